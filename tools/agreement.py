"""Agreement of the compatibility engine with a reference: reads files of judged schema pairs, prints a table.

`python -m tools.agreement FOLDER [--type AVRO|JSON|PROTOBUF] [--show N] [--kinds]`. Each line of a `*.jsonl` file is a
case: `type`, `reader_new` (the candidate), `writer_old` or `writer_old_all` (registered, oldest first), `level`,
`policy`, `references_new` and `references_old` (with their `schema`), `compatible` (the reference's verdict),
`confluent_errors` (the kinds it found, where it names any). Lines without a verdict are skipped. Exit status 1 if a
verdict differs.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from registry import Schema, SchemaReference
from registry.compat import check

SLOW_S = 2.0
Case = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The engine's answer to a case."""

    compatible: bool | None
    kinds: frozenset[str]
    text: str
    seconds: float


@dataclass(slots=True)
class Tally:
    """Counts of one file and format."""

    cases: int = 0
    agreed: int = 0
    with_kinds: int = 0
    same_kinds: int = 0
    failures: list[tuple[Case, Outcome]] = field(default_factory=list)
    other_kinds: list[tuple[Case, Outcome]] = field(default_factory=list)

    def add(self, case: Case, outcome: Outcome) -> None:
        self.cases += 1
        if outcome.compatible is case["compatible"]:
            self.agreed += 1
        else:
            self.failures.append((case, outcome))
        expected = frozenset(case.get("confluent_errors") or ())
        if expected:
            self.with_kinds += 1
            if expected == outcome.kinds:
                self.same_kinds += 1
            else:
                self.other_kinds.append((case, outcome))

    def __iadd__(self, other: Tally) -> Tally:
        self.cases += other.cases
        self.agreed += other.agreed
        self.with_kinds += other.with_kinds
        self.same_kinds += other.same_kinds
        return self


def judge(case: Case) -> Outcome:
    """Runs the engine; a failure of it is an outcome too, without a verdict."""
    stored: dict[tuple[str, int], Schema] = {}
    kind = case["type"]

    def schema(text: str, side: str) -> Schema:
        references = []
        for item in case.get(f"references_{side}") or ():
            reference = SchemaReference(item["name"], f"{side}:{item['subject']}", item["version"])
            stored[reference.subject, reference.version] = Schema(item["schema"], kind)
            references.append(reference)
        return Schema(text, kind, references)

    candidate = schema(case["reader_new"], "new")
    registered = [schema(text, "old") for text in case.get("writer_old_all") or [case["writer_old"]]]
    policy = case.get("policy") or "STRICT"
    start = time.perf_counter()
    try:
        result = check(candidate, registered, case["level"], policy, lambda r: stored[r.subject, r.version])
    except Exception as error:
        return Outcome(None, frozenset(), f"{type(error).__name__}: {error}"[:600], time.perf_counter() - start)
    text = "\n    ".join(f"{item.kind} {item.path}: {item.message}" for item in result.differences) or "compatible"
    kinds = frozenset(item.kind for item in result.differences)
    return Outcome(result.compatible, kinds, text, time.perf_counter() - start)


def cases(path: Path, wanted: str | None) -> Iterator[Case]:
    """The judged pairs of a file."""
    for line in path.read_text().splitlines():
        case = json.loads(line) if line.strip() else {}
        if "compatible" in case and "reader_new" in case and wanted in (None, case["type"]):
            yield case


def run(folder: Path, wanted: str | None) -> dict[tuple[str, str], Tally]:
    """Judges all files of a folder (or one file): a tally for each file and format."""
    found: dict[tuple[str, str], Tally] = {}
    for path in [folder] if folder.is_file() else sorted(folder.glob("*.jsonl")):
        for case in cases(path, wanted):
            outcome = judge(case)
            if outcome.seconds > SLOW_S:
                print(f"slow: {outcome.seconds:.1f} s: {path.name}: {case.get('name')}", file=sys.stderr)
            found.setdefault((path.name, case["type"]), Tally()).add(case, outcome)
    return found


def table(found: Mapping[tuple[str, str], Tally]) -> Iterator[str]:
    """The lines of the report; the last ones sum up each format."""
    yield f"{'file':40} {'type':9} {'cases':>6} {'verdicts agree':>15} {'kinds agree':>20}"
    totals: dict[str, Tally] = {}
    for (name, kind), tally in found.items():
        yield _line(name, kind, tally)
        totals.setdefault(kind, Tally())
        totals[kind] += tally
    for kind, tally in totals.items():
        yield _line("all", kind, tally)


def _line(name: str, kind: str, tally: Tally) -> str:
    kinds = f"{tally.same_kinds} of {tally.with_kinds}" if tally.with_kinds else "none named"
    share = f"{100 * tally.agreed / tally.cases:.2f} %"
    return f"{name:40} {kind:9} {tally.cases:6} {tally.agreed:6} {share:>8} {kinds:>20}"


def describe(case: Case, outcome: Outcome) -> str:
    """A disagreement, for people."""
    keys = ["reader_new", "writer_old_all" if case.get("writer_old_all") else "writer_old", "references_new"]
    lines = [f"--- {case.get('suite')}: {case.get('name')} ({case['level']}, {case.get('policy') or 'STRICT'})"]
    lines += [f"  {key}: {case[key]}" for key in [*keys, "references_old"] if case.get(key)]
    lines.append(f"  reference: compatible {case['compatible']}, kinds {case.get('confluent_errors')}")
    lines.append(f"  engine: compatible {outcome.compatible}\n    {outcome.text}")
    return "\n".join(lines)


def main(arguments: Sequence[str] | None = None) -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="tools.agreement", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("folder", type=Path, help="a folder of *.jsonl files, or one file")
    parser.add_argument("--type", choices=["AVRO", "JSON", "PROTOBUF"], help="only this format")
    parser.add_argument(
        "--show", type=int, default=0, metavar="N", help="print up to N disagreements of each table line"
    )
    parser.add_argument("--kinds", action="store_true", help="with --show: those about kinds of differences too")
    options = parser.parse_args(arguments)
    if not options.folder.exists():
        parser.error(f"there is no {options.folder}")
    found = run(options.folder, options.type)
    for tally in found.values():
        for case, outcome in tally.failures[: options.show]:
            print(describe(case, outcome))
        for case, outcome in tally.other_kinds[: options.show if options.kinds else 0]:
            print(describe(case, outcome))
    print("\n".join(table(found)))
    return 1 if any(tally.failures for tally in found.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
