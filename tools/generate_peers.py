"""Writes docs/peers.md: names of the four peers that differ or are missing, and the error classes of three clients.

The names come from `tools.confluent_differences` and the tables of the dialects, the errors from the tables that they
translate with.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping

from kafka_core import KafkaError
from kafka_core.error_codes import FACTS
from kserdes.compat.aiokafka import errors as aiokafka_errors
from kserdes.compat.aiokafka import table as aiokafka
from kserdes.compat.confluent.table import RENAMED
from kserdes.compat.kafka import failures as kafka_failures
from kserdes.compat.kafka import table as kafka
from kserdes.compat.simple import table as simple
from tools.confluent_differences import MEMBERS_NOT_HERE, MODULES_NOT_HERE, NAMES_NOT_HERE
from tools.pages import ROOT, write_or_check

PAGE = ROOT / "docs" / "peers.md"

HEAD = """\
<!-- Written by tools/generate_peers.py; do not edit. -->
# Names and errors of the peers

Code moves over by its imports (`docs/guide/migrating*.md`). Here stand the names of confluent_kafka 2.16, kafka-python
3.0, aiokafka 0.14 and kafka-python 0.9.5 for which that does not do, and which error of one client is which of another.
Tests compare the lists with the installed packages, name by name (`tests/interop/test_confluent_names.py`,
`tests/interop/test_peer_modules.py`), that of 0.9.5 with its manual
(`tests/unit/kserdes/compat/test_simple_parts.py`).
"""

Reasons = Mapping[str, str]
DIALECTS: tuple[tuple[str, Reasons, Reasons, Reasons], ...] = (
    ("kafka-python 3.0", kafka.NAMES_NOT_HERE, kafka.REFUSED, kafka.METHODS_NOT_HERE),
    ("aiokafka 0.14", aiokafka.NAMES_NOT_HERE, aiokafka.REFUSED, aiokafka.METHODS_NOT_HERE),
    ("kafka-python 0.9.5", simple.NAMES_NOT_HERE, {}, {}),
)
"""Client, its names, modules and methods that are not here."""


def by_reason(names: Mapping[str, str]) -> Iterator[str]:
    """A row for each reason, with its names."""
    for why in dict.fromkeys(names.values()):
        found = (name.rstrip(".") for name, reason in names.items() if reason == why)
        yield f"| {', '.join(f'`{name}`' for name in sorted(set(found)))} | {why} |"


def sizes() -> Iterator[str]:
    """A row for each client: how many names, modules and methods are not here."""
    methods = sum(len(names) for names in MEMBERS_NOT_HERE.values())
    whole = {name.rstrip(".") for name in MODULES_NOT_HERE}
    yield f"| confluent_kafka 2.16 | {len(NAMES_NOT_HERE)} | {len(whole)} | {methods} |"
    for client, *tables in DIALECTS:
        yield f"| {client} | {' | '.join(str(len(each)) for each in tables)} |"


def of_a_dialect(client: str, names: Reasons, modules: Reasons, methods: Reasons) -> Iterator[str]:
    """The section of one dialect."""
    yield from (f"## {client}", "")
    yield from table("| names that are not here | why |", by_reason(names))
    if modules:
        yield from table("| modules that are not here, with all below them | why |", by_reason(modules))
    if methods:
        yield from table("| methods that are not here | why |", by_reason(methods))


def table(head: str, rows: Iterable[str]) -> list[str]:
    """A Markdown table of two or more columns."""
    return [head, "|" + "---|" * (head.count("|") - 1), *rows, ""]


def errors(codes: Iterable[int]) -> Iterator[str]:
    """A row for each code: its name, and the classes that the dialects raise for it."""
    for code in codes:
        error = KafkaError(code)
        kafka = type(kafka_failures.translated(error)).__name__
        aiokafka = type(aiokafka_errors.translated(error)).__name__
        yield f"| {code} | `{FACTS[code].name}` | `{kafka}` | `{aiokafka}` |"


def page() -> str:
    """The whole page."""
    members = [
        f"| `{kind}` | {', '.join(f'`{name}`' for name in names)} | {next(iter(names.values()))} |"
        for kind, names in MEMBERS_NOT_HERE.items()
    ]
    renamed = [f"| `{name}` | `{known}` of `{module}` |" for name, (module, known) in RENAMED.items()]
    codes = "| code | confluent_kafka | kafka-python | aiokafka |"
    lines = [
        HEAD,
        *table("| client | names | modules | methods |", sizes()),
        "The sections up to the next client are confluent_kafka's.",
        "",
        "## Names with a substitute here",
        "",
        "`install()` serves them by their old names.",
        "",
        *table("| confluent_kafka | kserdes |", renamed),
        "## Missing names",
        "",
        *table("| names | why |", by_reason(NAMES_NOT_HERE)),
        "## Missing modules",
        "",
        "With all below them.",
        "",
        *table("| modules | why |", by_reason(MODULES_NOT_HERE)),
        "## Missing methods",
        "",
        *table("| class | methods | why |", members),
        *(line for dialect in DIALECTS for line in of_a_dialect(*dialect)),
        "## Errors",
        "",
        "A `KafkaError` of ours has the code and the name of confluent_kafka's. The dialects raise the class named",
        "here, with our text. `UnknownError` and `KafkaError` stand where a client has no class for a code.",
        "",
        "### Of brokers",
        "",
        *table(codes, errors(code for code in sorted(FACTS) if code >= -1 and code != 0)),
        "### Of the client itself",
        "",
        *table(codes, errors(code for code in sorted(FACTS) if code < -1)),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE, page()))
