"""Wheels and source distributions: of a small project with the real build files, and (slow) of the product."""

from __future__ import annotations

import base64
import hashlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import pytest

from kserdes_base.extras import PACKAGES
from tools.wheel import MOST_BYTES, WheelError, build, checked, repack

ROOT = Path(__file__).resolve().parents[2]
BUILD_FILES = ("pyproject.toml", "setup.py", "MANIFEST.in", "LICENSE", "README.md", "SECURITY.md", "CHANGELOG.md")
NATIVE = Path("kafka_core/kernels/native")
HANG_S = 300.0
INDEX = re.compile(r"pip install [^\n#(]*\bkserdes(\[[\w,]+\])?(?! @)['\"\s`]")
SUFFIXES = (".py", ".md", ".yml", ".yaml", ".toml")
FOLDERS = (
    *("docs", "kserdes", "kserdes_base", "kafka_core", "registry", "serdes", "pipeline"),
    *("tools", "tests", "benchmarks", ".ci"),
)

needs_compiler = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Packages `kafka_core` and `registry` with next to nothing in them, and the real build files."""
    folder = tmp_path / "project"
    files: dict[str | Path, str] = {
        "kafka_core/__init__.py": "",
        "kserdes_base/version.py": 'VERSION = "0.1.0"\n',
        "kafka_core/py.typed": "",
        "kafka_core/kernels/__init__.py": "",
        "kserdes_base/__init__.py": "",
        "registry/__init__.py": "",
        "registry/gone.py": "",
        NATIVE / "__init__.py": "",
        NATIVE / "tiny.pyx": 'include "part.pxi"\n\ndef one() -> int:\n    return 1\n',
        NATIVE / "part.pxi": "cdef int zero = 0\n",
        NATIVE / "tiny.pyi": "def one() -> int: ...\n",
        NATIVE / "shared.pxd": "",
    }
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for name in BUILD_FILES:
        shutil.copy(ROOT / name, folder / name)
    return folder


def run(project: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    without = {name: value for name, value in os.environ.items() if not name.startswith("KSERDES_")}
    return subprocess.run(
        [sys.executable, "setup.py", "-q", *command],
        cwd=project,
        env={**without, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=HANG_S,
    )


def wheel(project: Path, **environment: str) -> tuple[Path, set[str]]:
    """A new wheel and what it holds."""
    shutil.rmtree(project / "dist", ignore_errors=True)
    done = run(project, "bdist_wheel", **environment)
    assert done.returncode == 0, done.stderr
    (path,) = (project / "dist").glob("*.whl")
    return path, set(zipfile.ZipFile(path).namelist())


@pytest.fixture
def compiler(project: Path) -> dict[str, str]:
    """A compiler and linker that writes down what it is asked for, in `compiled.log`, and makes empty files."""
    script = project / "cc"
    script.write_text(
        f'#!/bin/sh\necho "$@" >> {project}/compiled.log\n'
        'while [ $# -gt 1 ]; do [ "$1" = -o ] && : > "$2"; shift; done\n'
    )
    script.chmod(0o755)
    return {"CC": str(script), "LDSHARED": str(script)}


def commands(project: Path) -> int:
    """The number of files compiled or linked since the last call."""
    log = project / "compiled.log"
    lines = log.read_text().splitlines() if log.exists() else []
    log.unlink(missing_ok=True)
    return len(lines)


def test_without_a_compiler_a_pure_wheel_and_one_warning(project: Path) -> None:
    done = run(project, "bdist_wheel", CC=str(project / "no-compiler"))
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("the compiled kernels were not built") == 1
    assert "The pure-Python ones are installed instead" in done.stderr
    assert "Traceback" not in done.stderr
    (path,) = (project / "dist").glob("*.whl")
    assert path.name == "kserdes-0.1.0-py3-none-any.whl"
    held = zipfile.ZipFile(path).namelist()
    assert [name for name in held if name.endswith((".c", ".so", ".pyx", ".pxi", ".pyi"))] == []


def test_kernels_that_are_required_and_not_built_are_an_error_without_a_traceback(project: Path) -> None:
    done = run(project, "build_ext", "--inplace", CC=str(project / "no-compiler"), KSERDES_REQUIRE_NATIVE="1")
    assert done.returncode != 0
    assert "kserdes: the compiled kernels can't be built: " in done.stderr
    assert "Traceback" not in done.stderr


def test_kernels_that_are_not_wanted_are_not_tried(project: Path) -> None:
    path, held = wheel(project, KSERDES_NO_NATIVE="1", CC=str(project / "no-compiler"))
    assert path.name == "kserdes-0.1.0-py3-none-any.whl"
    assert "kserdes-0.1.0.dist-info/licenses/LICENSE" in held
    assert "kafka_core/py.typed" in held


def test_a_second_build_compiles_what_has_changed_and_forgets_what_is_gone(
    project: Path, compiler: dict[str, str]
) -> None:
    path, held = wheel(project, **compiler)
    assert "py3-none-any" not in path.name
    assert [name for name in held if name.endswith((".c", ".pyx", ".pxd", ".pxi", ".pyi", ".h"))] == []
    assert "registry/gone.py" in held
    compiled = (project / "compiled.log").read_text()
    assert all(flag in compiled for flag in ("-g0", " -O2", " -Os"))  # kernels for speed, the rest for size
    assert commands(project) == 4, "one to compile, one to link, of the kernel and of what Cython shares"

    (project / "registry/gone.py").unlink()
    for source in (project / NATIVE).iterdir():
        if source.suffix != ".c":
            os.utime(source, (4e9, 4e9))  # as a new check-out, or a Cython that was installed a moment ago
    _, held = wheel(project, **compiler)
    assert commands(project) == 0, "compiled again, though nothing had changed"
    assert [name for name in held if name.endswith(".so")] != []
    assert "registry/gone.py" not in held

    (project / NATIVE / "shared.pxd").write_text("cdef int two\n")
    wheel(project, **compiler)
    assert commands(project) == 2, "a shared file had changed"
    (project / NATIVE / "part.pxi").write_text("cdef int zero = 1\n")
    wheel(project, **compiler)
    assert commands(project) == 2, "an included file had changed"


def test_the_source_distribution_can_be_built_and_is_licensed(project: Path) -> None:
    (project / NATIVE / "tiny.c").write_text("left over")
    done = run(project, "sdist")
    assert done.returncode == 0, done.stderr
    (path,) = (project / "dist").glob("*.tar.gz")
    with tarfile.open(path) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {"LICENSE", "SECURITY.md", "setup.py", f"{NATIVE}/tiny.pyx", f"{NATIVE}/part.pxi"} <= held
    assert f"{NATIVE}/shared.pxd" in held
    assert f"{NATIVE}/tiny.c" not in held


@pytest.mark.slow
@needs_compiler
def test_the_wheel_of_the_product_is_small(tmp_path: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if (ROOT / name).exists():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, tmp_path / name)
    path = tmp_path / "packed.whl"
    repack(build(tmp_path / "dist", tmp_path), path)
    held = zipfile.ZipFile(checked(path)).namelist()  # how large it may be: docs/decisions/0084
    kernels = len(list(ROOT.glob("*/kernels/native/*.pyx")))
    assert len([name for name in held if name.endswith(".so")]) == kernels + 1  # and what Cython shares between them


def test_a_wheel_that_is_packed_again_holds_the_same_and_is_always_the_same_file(project: Path) -> None:
    path, held = wheel(project, KSERDES_NO_NATIVE="1")
    packed = project / "packed.whl"
    repack(path, packed)
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(checked(packed)) as after:
        assert sorted(after.namelist()) == sorted(held)
        assert after.namelist()[-1].startswith("kserdes-0.1.0.dist-info/")
        for name in held:
            assert after.read(name) == before.read(name)
            assert after.getinfo(name).external_attr == before.getinfo(name).external_attr
    assert packed.stat().st_size < path.stat().st_size
    first = packed.read_bytes()
    repack(path, packed)
    assert packed.read_bytes() == first


@pytest.mark.parametrize(
    ("name", "data", "complaint"),
    [
        ("registry/__init__.py", b"# changed\n", "registry/__init__.py is not what RECORD says"),
        ("registry/new.py", b"", r"RECORD and files differ: \['registry/new.py'\]"),
    ],
)
def test_a_wheel_that_is_not_as_it_was_built_is_refused(project: Path, name: str, data: bytes, complaint: str) -> None:
    path, _ = wheel(project, KSERDES_NO_NATIVE="1")
    wrong = project / "wrong.whl"
    with zipfile.ZipFile(path) as before, zipfile.ZipFile(wrong, "w") as after:
        for held in before.namelist():
            if held != name:
                after.writestr(held, before.read(held))
        after.writestr(name, data)
    with pytest.raises(WheelError, match=complaint):
        checked(wrong)


@pytest.mark.parametrize(
    ("name", "data", "complaint"),
    [
        ("kafka_core/kernels/native/tiny.pyx", b"", "sources of kernels are in it"),
        ("registry/large.bin", os.urandom(MOST_BYTES), "bytes, 6,000,000 at most"),
    ],
)
def test_a_wheel_with_sources_of_kernels_or_of_too_many_bytes_is_refused(
    tmp_path: Path, name: str, data: bytes, complaint: str
) -> None:
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    record = "kserdes-0.1.0.dist-info/RECORD"
    path = tmp_path / "kserdes-0.1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as written:
        written.writestr(name, data)
        written.writestr(record, f"{name},sha256={digest},{len(data)}\n{record},,\n")
    with pytest.raises(WheelError, match=complaint):
        checked(path)


@needs_compiler
def test_a_build_that_fails_says_what_the_compiler_said(project: Path) -> None:
    (project / NATIVE / "tiny.pyx").write_text("def one(:\n")
    with pytest.raises(WheelError, match="the compiled kernels can't be built"):
        build(project / "dist", project)


def test_modules_that_are_compiled_otherwise_exist() -> None:
    assert set(setup_file().OTHERWISE) - {"kserdes_base._cyutility"} <= {
        ".".join(path.relative_to(ROOT).with_suffix("").parts) for path in ROOT.glob("*/kernels/native/*.pyx")
    }


def setup_file() -> Any:
    """setup.py as a module."""
    spec = importlib.util.spec_from_file_location("setup_of_kserdes", ROOT / "setup.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def extras() -> dict[str, list[str]]:
    found: dict[str, list[str]] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    return {name: [re.split(r"[\[><=]", text)[0] for text in texts] for name, texts in found.items()}


def test_error_texts_name_what_the_extras_bring() -> None:
    assert {name: extras()[name] for name in PACKAGES} == {name: text.split() for name, text in PACKAGES.items()}
    advice = re.compile(r"pip install ([\w -]+) \(the extra '(\w+)' of kserdes\)")
    found = [
        match
        for package in ("kserdes", "registry", "serdes", "pipeline")
        for path in (ROOT / package).rglob("*.py")
        for match in advice.findall(path.read_text())
    ]
    assert {extra for _, extra in found} == {"arrow", "cli", "server", "proto", "spark"}
    assert [(text, extra) for text, extra in found if set(text.split()) != set(extras()[extra])] == []


def test_nothing_sends_users_to_an_index_that_does_not_have_it() -> None:
    texts = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*.*") if path.suffix in SUFFIXES]
    texts += [*ROOT.glob("*.md"), ROOT / "Makefile", ROOT / ".pre-commit-hooks.yaml"]
    assert len(texts) > 100
    assert [str(path) for path in texts if path != Path(__file__) and INDEX.search(path.read_text())] == []


def test_the_hooks_of_pre_commit_bring_the_extras_they_need() -> None:
    yaml = pytest.importorskip("yaml")
    stated = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text()):
        assert hook["language"] == "python"  # pre-commit installs this checkout: without a compiler, a pure one
        assert hook["additional_dependencies"] == [*stated["cli"], *stated["proto"]]


def test_the_metadata_names_no_place_that_does_not_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["license-files"] == ["LICENSE"]
    assert "urls" not in project, "where the repository is to be found is known now: test that, and name it here"
    assert importlib.util.find_spec("kserdes") is not None
