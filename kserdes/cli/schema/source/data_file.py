"""The schema inside an Avro data file (an object container file), as its header has it.

Must not decode the file's records. Spec: Avro 1.12, "Object Container Files".
"""

from __future__ import annotations

from pathlib import Path

import fastavro

from kserdes.cli.shell.unusable import Unusable
from registry import Schema

SUFFIX = ".avro"


def written_schema(path: Path) -> Schema:
    """The writer's schema of an Avro data file, with the text that its writer put there.

    Raises:
        Unusable: the file can't be read, or its header is not that of an Avro data file.
    """
    try:
        with path.open("rb") as file:
            return Schema(fastavro.reader(file).metadata["avro.schema"], "AVRO")
    except OSError as error:
        raise Unusable(f"{path}: can't be read: {error.strerror}", kind="UNREADABLE_FILE") from error
    except Exception as error:  # fastavro raises whatever the damage leads to
        raise Unusable(f"{path}: not an Avro data file, or its header is damaged", kind="NO_DATA_FILE") from error
