"""Optional packages: imported where they are first used, with an error that names what to install.

Must not know what they are for.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["needed"]


def needed(module: str, extra: str, error: type[Exception]) -> Any:
    """A module of an optional package.

    Raises:
        error: it is not installed; the text says which extra of kserdes brings it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as missing:
        raise error(f"{module.partition('.')[0]} is not installed: pip install 'kserdes[{extra}]'") from missing
