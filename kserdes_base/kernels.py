"""The choice between the two implementations of a package's kernels: compiled, or pure Python.

Must not know what a kernel does. `KAFKA_CORE_KERNELS` chooses for all packages: `native` (compiled; an error where they
are not built), `pure`, or `auto` (the default: native if built).
"""

from __future__ import annotations

import importlib
import logging
import os
from types import ModuleType
from typing import Final, Literal

Impl = Literal["native", "pure"]
CHOICES: Final = ("auto", "native", "pure")
VARIABLE: Final = "KAFKA_CORE_KERNELS"


def load(package: str, whose: str, choice: str | None = None) -> tuple[Impl, ModuleType]:
    """The chosen implementation of a package's kernels, and its name.

    Args:
        package: has the packages `native` and `pure`.
        whose: who runs on them, for the logs: `the client runs`, `serializers run`.
        choice: instead of the environment's.

    Raises:
        ImportError: `native` is asked for and not built.
        ValueError: no such choice.
    """
    choice = choice or os.environ.get(VARIABLE) or "auto"
    if choice not in CHOICES:
        raise ValueError(f"{VARIABLE}={choice!r}: it is one of {', '.join(CHOICES)}")
    if choice != "pure":
        try:
            return "native", importlib.import_module(f"{package}.native")
        except ImportError as error:
            if choice == "native":
                raise ImportError(
                    f"{VARIABLE}=native, but they are not built ({error}); build them with `make kernels`"
                ) from error
            logging.getLogger(package).warning(
                "the compiled kernels are not usable (%s): %s on the pure-Python ones, several times slower; "
                "set %s=pure if this is intended",
                error,
                whose,
                VARIABLE,
            )
    return "pure", importlib.import_module(f"{package}.pure")
