"""The guides' examples run: every `python` block of a guide, in order, in one namespace."""

from __future__ import annotations

import re
import sys
import types
from pathlib import Path
from typing import Any

import pytest

GUIDES = Path(__file__).resolve().parents[2] / "docs" / "guide"
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("name", ["avro", "data-contracts", "json-schema", "protobuf", "registry-client"])
def test_the_examples_of_a_guide_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = (GUIDES / f"{name}.md").read_text()
    blocks = BLOCK.findall(text)
    assert blocks
    module = types.ModuleType(f"guide_{name}")  # classes look for the module they are made in
    monkeypatch.setitem(sys.modules, module.__name__, module)
    namespace: dict[str, Any] = module.__dict__
    for block in blocks:
        exec(compile(block, f"{name}.md", "exec"), namespace)
