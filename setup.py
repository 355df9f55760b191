"""Building the compiled kernels, which is optional: without a C compiler the wheel is a pure one, with one warning.

`KSERDES_NO_NATIVE=1` leaves them out; with `KSERDES_REQUIRE_NATIVE=1` a failure to build them is an error (`make
kernels`, and whoever publishes wheels). What was translated and compiled before is taken again if no source has
changed in content: a build in a new isolated environment has new time stamps on Cython's own files.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import BaseError, CCompilerError

PLACES = ("kafka_core/kernels/native", "serdes/kernels/native")
SHARED = (".pxd", ".h")
STAMPS = Path("build/kernels")
UTILITY = "kserdes_config._cyutility"
"""Cython's own code for memory views, once for all modules instead of in each (60 kB); in the leaf of all packages."""
# Neither debugging information nor symbols: a tenth of the size. Linkers other than GNU's may not know -s.
COMPILE = [] if sys.platform == "win32" else ["-O3", "-g0"]
LINK = ["-s"] if sys.platform == "linux" else []
WARNING = """
*** kserdes: the compiled kernels were not built: {error}
*** The pure-Python ones are installed instead: everything works, several times slower. For the compiled ones install
*** a C compiler and Python's headers, and build again. KSERDES_NO_NATIVE=1 builds without them and without this text.
"""


def extensions() -> list[Extension]:
    """One extension module per Cython source."""
    if os.environ.get("KSERDES_NO_NATIVE"):
        return []
    kernels = [
        extension(".".join(source.with_suffix("").parts), source)
        for place in PLACES
        for source in sorted(Path(place).glob("*.pyx"))
    ]
    return [extension(UTILITY, Path(UTILITY.replace(".", "/") + ".c")), *kernels]


def extension(name: str, source: Path) -> Extension:
    """A module as it is compiled."""
    return Extension(
        name,
        [str(source)],
        include_dirs=[str(source.parent)],
        extra_compile_args=COMPILE,
        extra_link_args=LINK,
    )


def digest(source: Path) -> str:
    """Of everything that decides what a module's C file says and how it is compiled."""
    import Cython

    found = hashlib.sha256(Cython.__version__.encode())
    shared = sorted(path for path in source.parent.iterdir() if path.suffix in SHARED)
    own = [] if source.suffix == ".c" else [source]
    for path in [Path("setup.py"), *own, *shared]:
        found.update(f"\0{path.as_posix()}\0".encode() + path.read_bytes())
    return found.hexdigest()


def translate(modules: Sequence[Extension]) -> None:
    """Gives extension modules C files as their sources: those of an earlier build, or new ones."""
    from Cython.Build import cythonize

    for module in modules:
        source = Path(module.sources[0])
        written, stamp, now = source.with_suffix(".c"), STAMPS / f"{module.name}.sha256", digest(source)
        if not (stamp.exists() and stamp.read_text() == now and written.exists()):
            stamp.unlink(missing_ok=True)  # a translation that fails leaves a C file that is none
            cythonize([module], language_level=3, quiet=True, force=True, shared_utility_qualified_name=UTILITY)
            STAMPS.mkdir(parents=True, exist_ok=True)
            stamp.write_text(now)
        module.sources = [str(written)]


class BuildKernels(build_ext):
    """Builds all extension modules or none."""

    def run(self) -> None:
        from Cython.Compiler.Errors import CompileError

        if not self.extensions:
            return
        try:
            translate(self.extensions)
            self.parallel = self.parallel or os.cpu_count()
            super().run()
        except (BaseError, CCompilerError, CompileError, OSError) as error:
            if os.environ.get("KSERDES_REQUIRE_NATIVE"):
                raise SystemExit(f"kserdes: the compiled kernels can't be built: {error}") from None
            print(WARNING.format(error=error), file=sys.stderr)
            self._leave_out()

    def _leave_out(self) -> None:
        for module in self.extensions:
            Path(self.get_ext_fullpath(module.name)).unlink(missing_ok=True)
        self.extensions = []
        self.distribution.ext_modules = []
        wheel = self.distribution.get_command_obj("bdist_wheel", create=False)
        if wheel is not None:
            wheel.root_is_pure = True


class BuildPackages(build_py):
    """Leaves nothing of an earlier build in the wheel: setuptools keeps files of modules that are gone."""

    def run(self) -> None:
        kept = {Path(path).resolve() for path in self.get_finalized_command("build_ext").get_outputs()}
        for path in Path(self.build_lib).rglob("*"):
            if path.is_file() and path.resolve() not in kept:
                path.unlink()
        super().run()


if __name__ == "__main__":
    setup(ext_modules=extensions(), cmdclass={"build_ext": BuildKernels, "build_py": BuildPackages})
