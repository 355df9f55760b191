"""Building the compiled kernels, which is optional: without a C compiler the wheel is a pure one, with one warning.

`KSERDES_NO_NATIVE=1` leaves them out; with `KSERDES_REQUIRE_NATIVE=1` a failure to build them is an error (`make
kernels`, and whoever publishes wheels). What was translated and compiled before is taken again if no source has
changed in content: a build in a new isolated environment has new time stamps on Cython's own files.
"""

from __future__ import annotations

import hashlib
import os
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.build_py import build_py
from setuptools.errors import BaseError, CCompilerError

PLACES = ("kafka_core/kernels/native", "serdes/kernels/native")
SHARED = (".pxd", ".h")
STAMPS = Path("build/kernels")
UTILITY = "kserdes_base._cyutility"
"""Cython's own code for calls and functions, once for all modules instead of in each; in the leaf of all packages."""
UNUSED = ["MemoryView"]
"""Parts left out of it (60 kB): kernels ask for buffers by hand, which is faster, too."""
USUAL = [
    "-O2",
    "-fno-gcse",
    "-fno-tree-pre",
    "-fno-code-hoisting",
    "-fno-tree-slp-vectorize",
    "-fno-tree-loop-vectorize",
]
"""Flags of most modules: -O3 adds a tenth to their size, eliminating redundant expressions 4 %, vectors 1 %, and mostly
no speed (docs/decisions/0084)."""
GCC = sys.platform == "linux" and "clang" not in os.environ.get("CC", sysconfig.get_config_var("CC") or "")
SIMPLE = ["-freorder-blocks-algorithm=simple"] if GCC else []
"""Flags of the client's modules and the Avro codec besides: 1.5 to 2.5 % smaller, as fast; Protobuf's serializers take
4 % longer with it (docs/decisions/0107). Only GCC has it."""
OTHERWISE = {
    "serdes.kernels.native.avro_columns": ("-O3", "columns of nullable fields: -O2 takes up to a fifth longer"),
    "serdes.kernels.native.avro_frames": ("-O3", "columns to Avro: -O2 takes a third longer"),
    "serdes.kernels.native.protobuf_columns": ("-O3", "-O2 takes a fifth longer, beside ptars"),
    "serdes.kernels.native.protobuf_frames": ("-O3", "-O2 takes a fifth longer, beside ptars"),
    "serdes.kernels.native.columns": ("-O3", "what all columns are made with"),
    "serdes.kernels.native.json_columns": ("-O3", "scans of text: -O2 takes an eighth longer"),
    UTILITY: ("-Os", "what is called when modules are loaded, and for arguments by name"),
    "kafka_core.kernels.native.record_columns": ("-Os", "one look at a row of columns before its record is copied"),
    "serdes.kernels.native.arrays": ("-Os", "what binds the arrays of a batch to its columns"),
    "serdes.kernels.native.calls": ("-Os", "the frame of a serializer's call, whose work is done elsewhere"),
    "serdes.kernels.native.frames": ("-Os", "the ids of a batch: 1 ns of the 40 that a row of three fields takes"),
    "serdes.kernels.native.avro_logical": ("-Os", "dates, decimals and UUIDs: calls of Python's constructors"),
}
"""Modules that are compiled otherwise, and why."""
DEFINES = [
    ("CYTHON_FAST_THREAD_STATE", "0"),  # exceptions through Python's functions, not their code at each place
    ("CYTHON_COMPRESS_STRINGS", "0"),  # a wheel packs them better
    ("CYTHON_UNPACK_METHODS", "0"),  # bound methods are called as they are, by Python's own function
]
# Neither debugging information nor symbols, nor tables for unwinding the stack, which are C++'s.
COMPILE = [] if sys.platform == "win32" else ["-g0", "-fno-asynchronous-unwind-tables"]
if sys.platform == "linux":
    # No padding in front of functions and of the targets of jumps (2 %), and instructions in the order in which they
    # were made (1.4 %: processors order them themselves): no row of the benchmarks shows either.
    COMPILE += [
        "-fno-plt",
        "-falign-jumps=1",
        "-falign-labels=1",
        "-falign-loops=1",
        "-falign-functions=1",
        "-fno-schedule-insns2",
    ]
# Linkers other than GNU's may not know the options.
LINK = ["-s", "-Wl,--hash-style=gnu,-z,noseparate-code,--build-id=none"] if sys.platform == "linux" else []
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
    simple = name.startswith("kafka_core.") or name == "serdes.kernels.native.avro"
    options = USUAL + SIMPLE if simple else USUAL
    return Extension(
        name,
        [str(source)],
        include_dirs=[str(source.parent)],
        define_macros=DEFINES,
        extra_compile_args=[*COMPILE, *([OTHERWISE[name][0]] if name in OTHERWISE else options)] if COMPILE else [],
        extra_link_args=LINK,
    )


def digest(source: Path) -> str:
    """Of everything that decides what a module's C file says and how it is compiled."""
    import Cython

    found = hashlib.sha256(Cython.__version__.encode())
    paths = [Path("setup.py")]
    if source.suffix != ".c":  # of both places: the serializers' kernels know the layout of the client's messages
        places = [Path(place) for place in PLACES if Path(place).is_dir()]
        paths += [source, *sorted(path for place in places for path in place.iterdir() if path.suffix in SHARED)]
        paths += [
            path for path in sorted(source.parent.glob("*.pxi")) if f'include "{path.name}"' in source.read_text()
        ]
    for path in paths:
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
            cythonize(
                [module],
                language_level=3,
                quiet=True,
                force=True,
                shared_utility_qualified_name=UTILITY,
                shared_utility_features_disabled=UNUSED,
            )
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
