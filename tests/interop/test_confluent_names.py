"""Every public module, name, method and argument of confluent_kafka is here, or `tools.confluent_differences` says why
not.

`kserdes.compat.confluent.table` says where; this test walks the installed package.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys
import warnings
from types import ModuleType
from typing import Any, Final

import pytest

from kserdes.compat.confluent.table import HOMES, RENAMED, ROOT
from tests.patience import PROCESS_S
from tools.confluent_differences import MEMBERS_NOT_HERE, MODULES_NOT_HERE, NAMES_NOT_HERE

pytestmark = pytest.mark.interop
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # authlib warns of httpx when it is imported
    peer = pytest.importorskip(ROOT)


def skipped(module: str) -> str | None:
    """Why a module has no counterpart."""
    return next(
        (
            why
            for name, why in MODULES_NOT_HERE.items()
            if module == name or (name[-1] == "." and module.startswith(name))
        ),
        None,
    )


def modules() -> list[str]:
    """The modules of the installed package, without its root's name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [item.name for item in pkgutil.walk_packages(peer.__path__, f"{ROOT}.", onerror=lambda name: None)]
    return ["", *(name.removeprefix(f"{ROOT}.") for name in found)]


def theirs(module: str) -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(f"{ROOT}.{module}" if module else ROOT)


def names(module: ModuleType) -> list[str]:
    """The public names of a module: those made there, and in a package also those of its other modules."""
    own = (ROOT, "cimpl") if hasattr(module, "__path__") else (module.__name__,)
    return [
        name
        for name, value in vars(module).items()
        if name[0] != "_"
        and name != "TYPE_CHECKING"
        and not inspect.ismodule(value)
        and (getattr(value, "__module__", None) or module.__name__).startswith(own)
        and type(value).__module__ not in ("typing", "__future__", "logging")
    ]


def ours(module: str, name: str) -> Any:
    """The object for a name; None if there is none."""
    homes = [RENAMED[name]] if name in RENAMED else [(home, name) for home in HOMES[module]]
    found = (getattr(importlib.import_module(home), known, None) for home, known in homes)
    return next((value for value in found if value is not None), None)


# What the installed package can't import: its modules for Azure import each other in a circle, those for Google need a
# library that is not there.
UNREADABLE: Final = {
    "schema_registry.rules.encryption.azurekms.azure_client": "AzureKmsClient",
    "schema_registry.rules.encryption.gcpkms.gcp_client": "GcpKmsClient",
    "schema_registry.rules.encryption.gcpkms.gcp_driver": "GcpKmsDriver",
}
HERE = [module for module in modules() if skipped(module) is None and module not in UNREADABLE]


def test_every_module_has_a_home_or_a_reason() -> None:
    assert [module for module in HERE if module not in HOMES] == []
    assert [module for module in HOMES if skipped(module) is not None] == []


def test_names_that_cannot_be_read_from_the_peer_exist() -> None:
    assert all(ours(module, name) is not None for module, name in UNREADABLE.items())


@pytest.mark.parametrize("module", HERE)
def test_every_name_is_here_or_has_a_reason(module: str) -> None:
    missing = {name for name in names(theirs(module)) if ours(module, name) is None}
    assert missing <= set(NAMES_NOT_HERE)


def test_the_list_names_only_what_is_missing() -> None:
    there = {name: [module for module in HERE if name in vars(theirs(module))] for name in NAMES_NOT_HERE}
    assert {name for name, found in there.items() if all(ours(module, name) is not None for module in found)} == set()


# ---- members and arguments

# Arguments that are not here, by class (or module and function) and method.
OF_OURS: Final = "a client that encrypts itself, of a client of the service"
WORDS: Final = "what is serialized is no message"
TEXT: Final = "errors of serializers begin with the reason"
ARGUMENTS_NOT_HERE: Final[dict[str, dict[str, str]]] = {
    "CelExecutor": {"transform(msg)": WORDS},
    "HcVaultKmsClient": dict.fromkeys(
        [f"({name})" for name in ("key_uri", "token", "ns", "role_id", "secret_id", "verify", "cert")], OF_OURS
    ),
    **{name: {"(message)": TEXT} for name in ("KeySerializerError", "SerializerError", "ValueSerializerError")},
}


def arguments(function: Any) -> list[str] | None:
    """Names of the arguments; None where a compiled function does not say."""
    try:
        found = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return None
    return [
        item.name for item in found if item.name != "self" and item.kind not in (item.VAR_KEYWORD, item.VAR_POSITIONAL)
    ]


def classes() -> list[tuple[str, str]]:
    """Every class of confluent_kafka that has a counterpart, where it is first found."""
    found: dict[Any, tuple[str, str]] = {}
    for module in HERE:
        for name in names(theirs(module)):
            kind = getattr(theirs(module), name)
            if inspect.isclass(kind) and name not in NAMES_NOT_HERE:
                found.setdefault(kind, (module, name))
    return list(found.values())


CASES = classes()


@pytest.mark.parametrize(("module", "name"), CASES)
def test_every_member_is_here(module: str, name: str) -> None:
    kind, mine = getattr(theirs(module), name), ours(module, name)
    known = {*dir(mine), *inspect.get_annotations(mine)}
    missing = {member for member in dir(kind) if member[0] != "_"} - known
    assert missing == set(MEMBERS_NOT_HERE.get(name, {}))


@pytest.mark.parametrize(("module", "name"), CASES)
def test_every_argument_is_here(module: str, name: str) -> None:
    kind, mine = getattr(theirs(module), name), ours(module, name)
    missing = set()
    for member in ["", *(member for member in dir(kind) if member[0] != "_" and hasattr(mine, member))]:
        wanted = [each for each in arguments(getattr(kind, member) if member else kind) or () if each != "_"]
        given = getattr(mine, member) if member else mine
        known = arguments(given)
        if known is None:
            continue
        everything = {item.kind for item in inspect.signature(given).parameters.values()}
        if inspect.Parameter.VAR_KEYWORD not in everything:
            missing |= {f"{member}({argument})" for argument in wanted if argument not in known}
    assert missing == set(ARGUMENTS_NOT_HERE.get(name, {}))


def test_the_constants_of_cimpl_are_the_same_numbers() -> None:
    numbers = {
        name: value for name, value in vars(theirs("cimpl")).items() if isinstance(value, int) and name.isupper()
    }
    different = {name for name, value in numbers.items() if ours("cimpl", name) not in (value, None)}
    assert different == set()
    assert [name for name in numbers if ours("cimpl", name) is None] == []


# ---- install()


def run(*arguments: str, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, timeout=PROCESS_S, check=False, **more
    )


def test_unchanged_code_runs_on_ours() -> None:
    code = (
        "from kserdes.compat import confluent; confluent.install(); confluent.install()\n"
        "import confluent_kafka, confluent_kafka.admin, kafka_core, serdes\n"
        "from confluent_kafka import *\n"
        "from confluent_kafka import Consumer, admin\n"
        "from confluent_kafka.schema_registry.avro import AvroSerializer as A\n"
        "assert confluent_kafka.Producer is Producer is kafka_core.Producer and Consumer is kafka_core.Consumer\n"
        "assert admin.AdminClient is kafka_core.admin.AdminClient and confluent_kafka.admin is admin\n"
        "assert confluent_kafka.SerializingProducer is serdes.SerializingProducer and A is serdes.avro.AvroSerializer\n"
        "from confluent_kafka.aio import AsyncSerializingProducer as P; assert P is serdes.AIOSerializingProducer\n"
        "assert 'Producer' in dir(confluent_kafka) and confluent_kafka.cimpl.ACL_OPERATION_READ == 3\n"
        "try: import confluent_kafka.kafkatest\n"
        "except ModuleNotFoundError as error: print(error)\n"
        "try: from confluent_kafka import ShareNothing\n"
        "except ImportError as error: print(type(error).__name__)\n"
    )
    done = run("-c", code)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        "kserdes has nothing for 'confluent_kafka.kafkatest'; see docs/guide/migrating.md",
        "ImportError",
    ]


def test_it_is_refused_when_the_real_package_is_there() -> None:
    done = run("-c", "import confluent_kafka; from kserdes.compat import confluent; confluent.install()")
    assert done.returncode == 1
    assert "StateError: confluent_kafka has been imported from" in done.stderr


def test_scripts_and_modules_run_on_ours(tmp_path: Any) -> None:
    script = tmp_path / "script.py"
    (tmp_path / "beside.py").write_text("WORD = 'beside'\n")
    script.write_text(
        "import sys, beside, confluent_kafka\n"
        "print(__name__, sys.argv[1:], beside.WORD, confluent_kafka.Producer.__module__)\n"
    )
    expected = "__main__ ['a', '-b'] beside kafka_core.sync.producer\n"
    done = run("-m", "kserdes.compat.confluent", str(script), "a", "-b")
    assert (done.returncode, done.stdout, done.stderr) == (0, expected, "")
    wrong = run("-m", "kserdes.compat.confluent")
    assert (wrong.returncode, wrong.stderr[:5]) == (2, "usage")
