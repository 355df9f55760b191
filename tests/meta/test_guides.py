"""The guides' examples run: every `python` block of a guide, in order, in one namespace."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

GUIDES = Path(__file__).resolve().parents[2] / "docs" / "guide"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", ["avro", "data-contracts", "json-schema", "protobuf", "registry-client"])
def test_the_examples_of_a_guide_run(name: str) -> None:
    text = (GUIDES / f"{name}.md").read_text()
    blocks = BLOCK.findall(text)
    assert blocks
    namespace: dict[str, Any] = {"__name__": name}
    for block in blocks:
        exec(compile(block, f"{name}.md", "exec"), namespace)
