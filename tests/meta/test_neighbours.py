"""Names of ours that are common words: who has a `registry` of his own is told so, wherever kserdes comes from.

`kserdes_base.neighbours` looks at each package without importing it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

from kserdes_base.kernels import VARIABLE
from tests.patience import PROCESS_S

ROOT = Path(__file__).resolve().parents[2]
OURS = ("kafka_core", "kserdes", "kserdes_base", "pipeline", "registry", "serdes")


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel of this checkout, installed: unpacked into a folder."""
    folder = tmp_path_factory.mktemp("wheel")
    listed = subprocess.run(
        ["git", "ls-files", "-coz", "--exclude-standard"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for name in filter(None, listed.split("\0")):
        if name.split("/")[0] in (*OURS, "pyspark_kserdes") or "/" not in name:
            target = folder / "source" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, target)
    command = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation", "-w", str(folder), "."]
    environment = {**os.environ, "KSERDES_NO_NATIVE": "1"}
    subprocess.run(command, cwd=folder / "source", env=environment, check=True, timeout=PROCESS_S)
    (wheel,) = folder.glob("*.whl")
    zipfile.ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


@pytest.fixture(params=["checkout", "wheel"])
def ours(request: pytest.FixtureRequest) -> Path:
    """The folder that kserdes is imported from."""
    return ROOT if request.param == "checkout" else request.getfixturevalue("unpacked")


def strange(folder: Path, name: str, form: str = "package") -> Path:
    """A module of the user's; its folder."""
    text = "THEIRS = True\n"
    if form == "package":
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text(text)
    elif form == "module":
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{name}.py").write_text(text)
    else:
        (folder / name).mkdir(parents=True)
    return folder


def run(code: str, *path: Path) -> subprocess.CompletedProcess[str]:
    """A process that knows nothing but the standard library and these folders, in this order."""
    setting = f"import sys; sys.path[:0] = {[str(each) for each in path]!r}\n"
    return subprocess.run(
        [sys.executable, "-I", "-S", "-c", setting + code],
        env={name: value for name, value in os.environ.items() if name != VARIABLE},  # the wheel is a pure one
        capture_output=True,
        text=True,
        timeout=PROCESS_S,
    )


@pytest.mark.parametrize("name", ["registry", "serdes", "pipeline", "kafka_core"])
@pytest.mark.parametrize("form", ["package", "module"])
@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_what_hides_a_package_is_named(ours: Path, tmp_path: Path, name: str, form: str, first: str) -> None:
    folder = strange(tmp_path / "app", name, form)
    done = run(f"import {name}, kserdes" if first == "theirs" else "import kserdes", folder, ours)
    *_, said = done.stderr.splitlines()
    assert done.returncode == 1
    assert said.startswith(f"ImportError: {name!r} is not the package of kserdes ({ours / name}), but {folder / name}")
    assert ("was imported first" in said) is (first == "theirs")
    assert said.endswith(f": rename it, or take {folder} away from the front of sys.path")


@pytest.mark.parametrize("first", ["ours", "theirs"])
def test_one_that_comes_later_on_the_path_is_in_nobodys_way(ours: Path, tmp_path: Path, first: str) -> None:
    folder = strange(tmp_path, "registry")
    names = "registry, kserdes" if first == "theirs" else "kserdes, registry"
    assert run(f"import {names}; print(hasattr(registry, 'THEIRS'))", ours, folder).stdout == "False\n"


def test_a_folder_without_an_init_hides_nothing(ours: Path, tmp_path: Path) -> None:
    folder = strange(tmp_path, "registry", "folder")
    done = run("import registry, kserdes; print(kserdes.Schema.__module__)", folder, ours)
    assert done.stdout == "registry.models\n", done.stderr


@pytest.mark.parametrize("package", ["serdes", "pipeline"])
def test_packages_that_stand_on_others_look_too(ours: Path, tmp_path: Path, package: str) -> None:
    done = run(f"import {package}", strange(tmp_path, "registry"), ours)
    assert "ImportError: 'registry' is not the package of kserdes" in done.stderr


def test_another_distribution_that_has_replaced_ours(unpacked: Path, tmp_path: Path) -> None:
    shutil.copytree(unpacked, tmp_path / "site")
    (tmp_path / "site/registry/__init__.py").write_text("THEIRS = True\n")
    done = run("import kserdes", tmp_path / "site")
    assert "another distribution has replaced it; uninstall that one, and install kserdes again" in done.stderr


def test_a_package_that_is_not_there_or_was_made_by_the_program(unpacked: Path, tmp_path: Path) -> None:
    shutil.copytree(unpacked, tmp_path / "site")
    shutil.rmtree(tmp_path / "site/registry")
    assert "the package 'registry' of kserdes is not there" in run("import kserdes", tmp_path / "site").stderr
    made = "import types; sys.modules['registry'] = types.ModuleType('registry'); import kserdes"
    assert "but a module made by the program" in run(made, unpacked).stderr


def test_every_package_has_the_mark() -> None:
    """The sign by which a package is known without being imported."""
    from kserdes_base.neighbours import MARK

    assert [
        name for name in OURS if MARK not in (ROOT / name / "__init__.py").read_bytes() and name != "kserdes_base"
    ] == []


def test_from_a_zip_archive(unpacked: Path, tmp_path: Path) -> None:
    """As Spark takes Python packages to its executors (`--py-files`)."""
    archive = tmp_path / "kserdes.zip"
    with zipfile.ZipFile(archive, "w") as written:
        for path in unpacked.rglob("*.py"):
            written.write(path, path.relative_to(unpacked))
    done = run("import kserdes; print(kserdes.Schema.__module__)", archive)
    assert done.stdout == "registry.models\n", done.stderr
    assert "which hides it" in run("import kserdes", strange(tmp_path / "app", "serdes"), archive).stderr


def run_pytest(folder: Path, *path: Path) -> subprocess.CompletedProcess[str]:
    """pytest in a folder of tests; kserdes is found in the other ones, where its plugin is registered."""
    folder.joinpath("test_it.py").write_text("def test_it():\n    pass\n")
    installed = sysconfig.get_path("purelib")  # without the .pth of a checkout
    code = f"import pytest; sys.exit(pytest.main(['-p', 'no:cacheprovider', {str(folder)!r}]))"
    return run(code, folder, *path, Path(installed))


@pytest.mark.parametrize("name", ["registry", "serdes", "pipeline"])
def test_tests_of_a_project_with_such_a_name_run_and_are_told(unpacked: Path, tmp_path: Path, name: str) -> None:
    """kserdes is installed beside it, for something else."""
    done = run_pytest(strange(tmp_path / "app", name), unpacked)
    assert (done.returncode, "1 passed" in done.stdout) == (0, True), done.stderr
    assert ("kserdes: its fixtures are not there: " in done.stdout) is (name != "pipeline")


def test_tests_of_other_projects_have_the_fixtures(unpacked: Path, tmp_path: Path) -> None:
    text = "def test_fixtures(schema_registry_client, kafka_cluster):\n    assert kafka_cluster.bootstrap_servers\n"
    (tmp_path / "test_fixtures.py").write_text(text)
    done = run_pytest(tmp_path, unpacked)
    assert "2 passed" in done.stdout, done.stdout + done.stderr
    assert "kserdes: " not in done.stdout
