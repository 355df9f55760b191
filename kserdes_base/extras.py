"""Optional packages: imported where they are first used, with an error that names what to install.

Must not know what they are for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any, Final

PACKAGES: Final = {
    "aws": "boto3",
    "azure": "azure-identity azure-keyvault-keys",
    "encryption": "cryptography",
    "gcp": "google-cloud-kms",
    "oauth": "pyjwt cryptography",
    "rules": "cel-python google-re2 jsonata-python",
    "vault": "hvac",
}
"""Extra → the distributions that it brings (`pyproject.toml` has the versions)."""


def needed(module: str, extra: str, error: Callable[[str], Exception]) -> Any:
    """A module of an optional package.

    Raises:
        error: it is not installed; the text says which extra of kserdes brings it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as missing:
        name = module.partition(".")[0]
        raise error(
            f"{name} is not installed: pip install {PACKAGES[extra]} (the extra {extra!r} of kserdes)"
        ) from missing
