"""The Cython list, and nothing else; building is optional (KSERDES_NO_NATIVE=1 skips it)."""

import os
from pathlib import Path

from setuptools import Extension, setup

PLACES = ("kafka_core/kernels/native", "serdes/kernels/native")


def extensions() -> list[Extension]:
    if os.environ.get("KSERDES_NO_NATIVE"):
        return []
    from Cython.Build import cythonize

    modules = [
        Extension(
            ".".join(source.with_suffix("").parts),
            [str(source)],
            include_dirs=[place],
            extra_compile_args=["-O3"],
        )
        for place in PLACES
        for source in sorted(Path(place).glob("*.pyx"))
    ]
    return cythonize(modules, language_level=3, quiet=True)


setup(ext_modules=extensions())
