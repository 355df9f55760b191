"""Writes docs/peers.md: names of confluent_kafka that differ or are missing, and the error classes of three clients.

The names come from `tools.confluent_differences`, the errors from the tables that the dialects translate with.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Mapping

from kafka_core import KafkaError
from kafka_core.compat.aiokafka import errors as aiokafka_errors
from kafka_core.compat.confluent.table import RENAMED
from kafka_core.compat.kafka import failures as kafka_failures
from kafka_core.error_codes import FACTS
from tools.confluent_differences import MEMBERS_NOT_HERE, MODULES_NOT_HERE, NAMES_NOT_HERE
from tools.pages import ROOT, write_or_check

PAGE = ROOT / "docs" / "peers.md"

HEAD = """\
<!-- Written by tools/generate_peers.py; do not edit. -->
# Names and errors of the peers

Code moves over by its imports (`docs/guide/migrating*.md`). Here stand the names of confluent_kafka 2.16 for which that
does not do, and which error of one client is which of another. The names are compared with the installed package by
`tests/interop/test_confluent_names.py`; what the other two dialects lack stands in their guides.
"""


def by_reason(names: Mapping[str, str]) -> Iterator[str]:
    """A row for each reason, with its names."""
    for why in dict.fromkeys(names.values()):
        found = (name.rstrip(".") for name, reason in names.items() if reason == why)
        yield f"| {', '.join(f'`{name}`' for name in sorted(set(found)))} | {why} |"


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
        "## Names that are others here",
        "",
        "`install()` serves them by their old names.",
        "",
        *table("| confluent_kafka | kserdes |", renamed),
        "## Names that are not here",
        "",
        *table("| names | why |", by_reason(NAMES_NOT_HERE)),
        "## Modules that are not here",
        "",
        "With all below them.",
        "",
        *table("| modules | why |", by_reason(MODULES_NOT_HERE)),
        "## Methods that are not here",
        "",
        *table("| class | methods | why |", members),
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
