"""Writes otlp_descriptor.py of kafka_core/broker/telemetry: tools/otlp.proto, compiled by protoc into a descriptor.

A descriptor and not protoc's Python: that demands a runtime at least as new as the protoc that wrote it.
"""

from __future__ import annotations

import base64
import sys
import tempfile
import textwrap
from pathlib import Path

from google.protobuf.descriptor_pb2 import FileDescriptorSet
from grpc_tools import protoc

from tools.pages import ROOT, write_or_check

SOURCE = ROOT / "tools" / "otlp.proto"
TARGET = ROOT / "kafka_core" / "broker" / "telemetry" / "otlp_descriptor.py"
WIDTH = 110


def compiled(source: Path) -> bytes:
    """The `FileDescriptorProto` of a file that imports no other one."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"
        if protoc.main(["protoc", f"-I{source.parent}", f"--descriptor_set_out={out}", source.name]) != 0:
            raise ValueError(f"protoc refuses {source}")
        files = FileDescriptorSet.FromString(out.read_bytes()).file
    return files[0].SerializeToString(deterministic=True)


def render(descriptor: bytes) -> str:
    """The module's text."""
    lines = textwrap.wrap(base64.b64encode(descriptor).decode(), WIDTH)
    return "\n".join(
        [
            "# Written by tools/generate_otlp.py from tools/otlp.proto; do not edit.",
            '"""The descriptor of the OpenTelemetry messages that Kafka clients push, in base64.',
            "",
            "Knows nothing of protobuf's library.",
            "Truth: OTLP's metrics.proto, common.proto and resource.proto.",
            '"""',
            "",
            "from typing import Final",
            "",
            "DESCRIPTOR: Final = (",
            *(f'    "{line}"' for line in lines),
            ")",
            "",
        ]
    )


if __name__ == "__main__":
    sys.exit(write_or_check(TARGET, render(compiled(SOURCE)), sys.argv[1:]))
