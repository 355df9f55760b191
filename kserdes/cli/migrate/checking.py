"""A code base's uses of confluent_kafka, kafka-python, aiokafka and kafka-python 0.9.5, mapped to kserdes.

It reads syntax trees; nothing of the code base is imported or run. What is there is asked of the very tables and
modules that `install()` serves, and which tests compare with the installed packages. Must not know the command line.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, Final

from kserdes.compat.aiokafka import table as aiokafka
from kserdes.compat.aiokafka.arguments import ADMIN as AIO_ADMIN
from kserdes.compat.aiokafka.arguments import CONSUMER as AIO_CONSUMER
from kserdes.compat.aiokafka.arguments import PRODUCER as AIO_PRODUCER
from kserdes.compat.arguments import Arguments
from kserdes.compat.confluent import DIALECTS
from kserdes.compat.kafka import table as kafka
from kserdes.compat.kafka.settings import ADMIN, CONSUMER, PRODUCER
from kserdes.compat.simple import table as simple

OLD: Final = "kserdes.compat.simple"
OLD_NOTE: Final = f"kafka-python 0.9.5's: import it from {OLD}, see docs/guide/migrating-simple.md"
TABLES: Final[Mapping[str, Arguments]] = {
    "KafkaProducer": PRODUCER,
    "KafkaConsumer": CONSUMER,
    "KafkaAdminClient": ADMIN,
    "AIOKafkaProducer": AIO_PRODUCER,
    "AIOKafkaConsumer": AIO_CONSUMER,
    "AIOKafkaAdminClient": AIO_ADMIN,
}
"""Class → its keyword arguments."""
REFUSED: Final[Mapping[str, Mapping[str, str]]] = {"kafka": kafka.REFUSED, "aiokafka": aiokafka.REFUSED}
NAMES: Final[Mapping[str, str]] = {
    f"{root}.{name}": why
    for root, names in (
        ("kafka", simple.NAMES_NOT_HERE), ("kafka", kafka.NAMES_NOT_HERE), ("aiokafka", aiokafka.NAMES_NOT_HERE)
    )
    for name, why in names.items()
}  # fmt: skip
METHODS: Final[Mapping[str, str]] = {
    f"{root}.{'.'.join(name.split('.')[-2:])}": why
    for root, names in (("kafka", kafka.METHODS_NOT_HERE), ("aiokafka", aiokafka.METHODS_NOT_HERE))
    for name, why in names.items()
}
"""Root, class and method that are not here: why."""
DIFFERS: Final[Mapping[str, str]] = {
    "KafkaAdminClient.elect_leaders": "gives a plain object with the attributes of ElectLeadersResponse",
    "KafkaAdminClient.api_versions": "its keys are an enum of the same names, not kafka.protocol's",
    "KafkaAdminClient.create_topics": "does not return ids and configurations of new topics",
    "KafkaAdminClient.get_broker_version_data": "its result has no api_version(), which takes kafka.protocol's classes",
    "KafkaAdminClient.describe_groups": "does not return the members' subscriptions",
}
"""Class and method that work otherwise than the peer's: how."""


class Status(StrEnum):
    """The status of a use of a peer's API here."""

    WORKS = "works"
    DIFFERS = "differs"
    MISSING = "missing"


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One use of a peer.

    Attributes:
        file, line: where it is.
        name: dotted, from the package on; an argument is behind a class with `(…=)`.
        status: how it maps.
        note: what differs, or why it is missing; empty if it works.
    """

    file: str
    line: int
    name: str
    status: Status
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Unreadable:
    """A file that could not be read, and why."""

    file: str
    reason: str


def check(path: Path) -> tuple[list[Finding], list[Unreadable]]:
    """The uses of the peers in a file, or in all `.py` files below a folder, in the order of files and lines.

    Folders whose names begin with a dot, `node_modules` and virtual environments are left out.

    Raises:
        FileNotFoundError: there is no such path.
    """
    if not path.exists():
        raise FileNotFoundError(f"{path} does not exist")
    findings: set[Finding] = set()
    unreadable = []
    for file in sorted(sources(path)):
        try:
            tree = ast.parse(file.read_bytes(), str(file))
        except (OSError, SyntaxError, ValueError) as error:
            unreadable.append(Unreadable(str(file), str(error)))
            continue
        reader = Reader(str(file))
        reader.visit(tree)
        findings |= reader.findings
    return sorted(findings), unreadable


def sources(path: Path) -> Iterator[Path]:
    """The files to read."""
    if path.is_file():
        yield path
        return
    for child in path.iterdir():
        if child.is_dir():
            left_out = child.name.startswith(".") or child.name in ("node_modules", "__pycache__")
            if not left_out and not child.is_symlink() and not (child / "pyvenv.cfg").exists():
                yield from sources(child)
        elif child.suffix == ".py":
            yield child


class Reader(ast.NodeVisitor):
    """Reads one file: imports first bind names, uses are looked up in these.

    A name is bound for the whole file, wherever the import stands; a client that is kept in a name or an attribute
    (`self.producer = KafkaProducer(…)`, `with … as producer`) is known by that.
    """

    def __init__(self, file: str) -> None:
        self.file = file
        self.findings: set[Finding] = set()
        self._names: dict[str, str] = {}
        self._clients: dict[str, str] = {}

    def visit_Module(self, node: ast.Module) -> None:
        for each in ast.walk(node):
            if isinstance(each, ast.Import):
                self._import(each)
            elif isinstance(each, ast.ImportFrom):
                self._import_from(each)
        for each in ast.walk(node):
            if isinstance(each, ast.Assign | ast.AnnAssign) and each.value is not None:
                targets = each.targets if isinstance(each, ast.Assign) else [each.target]
                for target in targets:
                    self._keep(target, each.value)
            elif isinstance(each, ast.withitem) and each.optional_vars is not None:
                self._keep(each.optional_vars, each.context_expr)
        self.generic_visit(node)

    def _import(self, node: ast.Import) -> None:
        for each in node.names:
            root = each.name.partition(".")[0]
            if root in DIALECTS:
                self._say(node.lineno, each.name, *module_status(each.name))
                self._names[each.asname or root] = each.name if each.asname else root

    def _import_from(self, node: ast.ImportFrom) -> None:
        module = node.module or ""
        if node.level or module.partition(".")[0] not in DIALECTS:
            return
        for each in node.names:
            if each.name == "*":
                self._say(node.lineno, f"{module}.*", *module_status(module))
                continue
            name = f"{module}.{each.name}"
            self._say(node.lineno, name, *status_of(name))
            self._names[each.asname or each.name] = name

    def _keep(self, target: ast.expr, value: ast.expr) -> None:
        if isinstance(value, ast.Await):
            value = value.value
        made = self._dotted(value.func) if isinstance(value, ast.Call) else None
        place = written(target)
        if made is not None and place is not None and isinstance(found(made), type):
            self._clients[place] = made

    def visit_Attribute(self, node: ast.Attribute) -> None:
        name = self._dotted(node)
        if name is not None:
            self._say(node.lineno, name, *status_of(name))
            return
        place = written(node.value)
        if place in self._clients:
            owner = self._clients[place]
            self._say(node.lineno, f"{owner}.{node.attr}", *member_status(owner, node.attr))
        self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> None:
        name = self._dotted(node.func)
        table = None if name is None else TABLES.get(name.rpartition(".")[2])
        if name is not None and table is not None:
            for keyword in node.keywords:
                if keyword.arg is not None:
                    said = argument_status(table, keyword.arg)
                    self._say(keyword.value.lineno, f"{name}({keyword.arg}=)", *said)
        self.generic_visit(node)

    def _dotted(self, node: ast.expr) -> str | None:
        """The peer's name that an expression stands for; None if it is none."""
        text = written(node)
        if text is None:
            return None
        first, _, rest = text.partition(".")
        bound = self._names.get(first)
        if bound is None:
            return None
        return f"{bound}.{rest}" if rest else bound

    def _say(self, line: int, name: str, status: Status, note: str) -> None:
        self.findings.add(Finding(self.file, line, name, status, note))


def written(node: ast.expr) -> str | None:
    """`a.b.c` as text; None for any other expression."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        before = written(node.value)
        return None if before is None else f"{before}.{node.attr}"
    return None


def module_status(module: str) -> tuple[Status, str]:
    """The status of a module here."""
    root, _, inside = module.partition(".")
    dialect = DIALECTS[root]
    if inside in dialect.homes:
        return Status.WORKS, ""
    if root == "kafka" and importlib.util.find_spec(f"{OLD}.{inside.partition('.')[0]}") and "." not in inside:
        return Status.DIFFERS, OLD_NOTE
    for name, why in REFUSED.get(root, {}).items():
        if inside == name or inside.startswith(f"{name}."):
            return Status.MISSING, why
    return Status.MISSING, f"kserdes has no such module, see {dialect.guide}"


def status_of(name: str) -> tuple[Status, str]:
    """The status of a dotted name: a module, a name of one, or an attribute of the object of a name."""
    root, _, inside = name.partition(".")
    if inside in DIALECTS[root].homes:
        return Status.WORKS, ""
    if name in NAMES:
        return Status.MISSING, NAMES[name]
    if found(name) is not None:
        owner, _, member = name.rpartition(".")
        return member_status(owner, member) if isinstance(found(owner), type) else (Status.WORKS, "")
    module, _, last = name.rpartition(".")
    if isinstance(found(module), type):
        return member_status(module, last)
    if root == "kafka" and of_the_old(module.partition(".")[2], last):
        return Status.DIFFERS, OLD_NOTE
    if module_status(name)[1] in REFUSED.get(root, {}).values():
        return module_status(name)
    status, why = module_status(module)
    if status is Status.MISSING:
        return status, why
    return Status.MISSING, f"kserdes has no such name, see {DIALECTS[root].guide}"


def of_the_old(module: str, name: str) -> bool:
    """Whether a module of kafka-python 0.9.5 had that name."""
    home = f"{OLD}.{module}" if module else OLD
    try:
        return hasattr(importlib.import_module(home), name)
    except ModuleNotFoundError:
        return False


def member_status(owner: str, member: str) -> tuple[Status, str]:
    """The status of an attribute of a class."""
    short = f"{owner.rpartition('.')[2]}.{member}"
    if short in DIFFERS:
        return Status.DIFFERS, DIFFERS[short]
    if (lacking := f"{owner.partition('.')[0]}.{short}") in METHODS:
        return Status.MISSING, METHODS[lacking]
    kind = found(owner)
    if kind is not None and (
        hasattr(kind, member) or member in getattr(kind, "__annotations__", {}) or member == "config"
    ):
        return Status.WORKS, ""
    return Status.MISSING, f"{owner.rpartition('.')[2]} of kserdes has no {member}"


def argument_status(table: Arguments, argument: str) -> tuple[Status, str]:
    """The status of a keyword argument of a client."""
    row = table.rows.get(argument)
    if row is None:
        return Status.MISSING, "there is no such argument"
    return (Status.DIFFERS, f"no effect: {row.why_unused}") if row.why_unused else (Status.WORKS, "")


def found(name: str) -> Any:
    """The object here for a peer's dotted name; None if there is none."""
    root, _, inside = name.partition(".")
    dialect = DIALECTS[root]
    parts = inside.split(".") if inside else []
    for split in range(len(parts), -1, -1):
        homes = dialect.homes.get(".".join(parts[:split]))
        if homes is None:
            continue
        rest = parts[split:]
        if not rest:
            return None  # a module
        first = rest[0]
        for home, known in [dialect.renamed[first]] if first in dialect.renamed else [(each, first) for each in homes]:
            value = getattr(importlib.import_module(home), known, None)
            for part in rest[1:]:
                value = getattr(value, part, None)
            if value is not None:
                return value
    return None
