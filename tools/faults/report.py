"""Turns the results of rounds into a page: medians and spreads beside confluent-kafka's, and which goals are missed."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from tools.faults.judge import GroupVerdict, ProducerVerdict
from tools.faults.round import PROTOCOLS, RoundResult
from tools.faults.scenarios import Fault

OURS, PEER = "kserdes", "confluent"
NAMES = {OURS: "kserdes", PEER: "confluent-kafka"}
WRONG_PRODUCER = ("lost", "doubled", "disordered", "failed", "unreported")
WRONG_GROUP = ("lost", "doubled", "disordered", "skipped", "unknown")
FLOOR_S, SHARE = 0.5, 0.1

Rounds = Mapping[str, Sequence[RoundResult]]
"""The words of a fault → its rounds."""
Column = tuple[str, Callable[[RoundResult, str], float]]
"""A heading, and what it shows of (round, client), in seconds."""

COMMIT_EVERY_S = 5.0


def late(group: GroupVerdict) -> float:
    """The longest time without a commit, beyond auto.commit.interval.ms."""
    return max(0.0, group.commit_silence_s - COMMIT_EVERY_S)


SILENCES: tuple[Column, ...] = (
    ("producer", lambda result, client: result.producers[client].silence_s),
    ("eager group", lambda result, client: result.groups[client, "eager"].silence_s),
    ("cooperative group", lambda result, client: result.groups[client, "cooperative"].silence_s),
)
WAITS: tuple[Column, ...] = (
    ("produce() to acknowledgement", lambda result, client: result.producers[client].wait_s),
    ("… to eager group", lambda result, client: result.groups[client, "eager"].lag_s),
    ("… to cooperative group", lambda result, client: result.groups[client, "cooperative"].lag_s),
    ("commits late, eager", lambda result, client: late(result.groups[client, "eager"])),
    ("commits late, cooperative", lambda result, client: late(result.groups[client, "cooperative"])),
)


@dataclass(frozen=True, slots=True)
class Seconds:
    """One measure of one client in all rounds."""

    rounds: tuple[float, ...]

    @property
    def median(self) -> float:
        return statistics.median(self.rounds)

    def __str__(self) -> str:
        if len(self.rounds) == 1:
            return f"{self.median:.1f}"
        return f"{self.median:.1f} ({min(self.rounds):.1f} to {max(self.rounds):.1f})"


def is_slower(ours: Seconds, peer: Seconds) -> bool:
    """Whether our median is above the peer's by more than its spread, and a tenth of it, and half a second."""
    spread = max(peer.rounds) - min(peer.rounds)
    return ours.median > peer.median + max(spread, SHARE * peer.median, FLOOR_S)


def wrongs(verdicts: Sequence[ProducerVerdict | GroupVerdict], names: Sequence[str]) -> str:
    """The counts that must be zero and are not, summed over the rounds: `3 lost, 1 doubled`, or nothing."""
    counted = [(sum(getattr(verdict, name) for verdict in verdicts), name) for name in names]
    return ", ".join(f"{count} {name}" for count, name in counted if count)


def markdown(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table."""
    lines = [head, ["---"] * len(head), *rows]
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def seconds_table(rounds: Rounds, columns: Sequence[Column]) -> tuple[str, list[str]]:
    """The table, ours first in each cell, and a line for each cell in which we are slower (they are bold)."""
    rows, slower = [], []
    for title, results in rounds.items():
        row = [title]
        for heading, measure in columns:
            ours, peer = (Seconds(tuple(measure(each, client) for each in results)) for client in (OURS, PEER))
            bad = is_slower(ours, peer)
            row.append(f"**{ours}** / {peer}" if bad else f"{ours} / {peer}")
            if bad:
                slower.append(f"{title}, {heading}: {ours} s, confluent-kafka {peer} s")
        rows.append(row)
    return markdown(["fault", *(heading for heading, _ in columns)], rows), slower


def records_table(rounds: Rounds) -> tuple[str, list[str]]:
    """The table, a line per fault and client, and a line for each thing that went wrong with ours."""
    rows, wrong = [], []
    for title, results in rounds.items():
        for client, name in NAMES.items():
            producers = [each.producers[client] for each in results]
            cells = [wrongs(producers, WRONG_PRODUCER)]
            again = []
            for protocol in PROTOCOLS:
                groups = [each.groups[client, protocol] for each in results]
                cells.append(wrongs(groups, WRONG_GROUP))
                again.append(str(sum(group.again for group in groups)))
            crashes = [crash for each in results for crash in each.crashes if crash.startswith(client)]
            acked = sum(producer.acked for producer in producers)
            shown = [cell or "0, 0, kept" for cell in cells]
            rows.append([title, name, str(len(results)), str(acked), *shown, " / ".join(again), "; ".join(crashes)])
            if client == OURS:
                wrong += [f"{title}: {what}" for what in [*cells, *crashes] if what]
    head = ["fault", "client", "rounds", "acknowledged", "producer", "eager group", "cooperative group"]
    return markdown([*head, "again, eager / cooperative", "ended by itself"], rows), wrong


@dataclass(frozen=True, slots=True)
class Report:
    """The page, and what misses the goals: a line each."""

    page: str
    misses: list[str]


def report(faults: Sequence[Fault], results: Sequence[RoundResult], about: str) -> Report:
    """All of it.

    Args:
        faults: in the order of the table.
        results: of all rounds.
        about: where and when they ran.
    """
    rounds = {
        fault.title: found for fault in faults if (found := [each for each in results if each.fault == fault.name])
    }
    records, wrong = records_table(rounds)
    silences, slower = seconds_table(rounds, SILENCES)
    waits, later = seconds_table(rounds, WAITS)
    misses = wrong + slower + later
    verdict = "Every goal is met." if not misses else "Not met:\n\n" + "".join(f"- {miss}\n" for miss in misses)
    text = PAGE.format(
        about=about,
        records=records,
        silences=silences,
        waits=waits,
        verdict=verdict.strip(),
        faults="".join(f"- `{fault.name}`, {fault.title}: {fault.story}\n" for fault in faults),
    )
    return Report(text, misses)


PAGE = """\
<!-- Written by `make faults`; do not edit. -->
# Faults on real brokers

`make faults` starts three Apache Kafka nodes and plays the faults below on them. In every round a producer and two
groups of two members (eager: `range`; cooperative: `cooperative-sticky`) of each client, kserdes and confluent-kafka,
work on the same topic at the same time and meet the same fault; each client in processes of its own. A judge
(`tools/faults/judge.py`) then compares what each process saw with the topic's log. `FAULTS=leader,reset ROUNDS=1`
selects.

{about}

Equal for both: `enable.idempotence`, `acks=all`, `auto.offset.reset=earliest`, and everything else at its default.
Where partitions are added, `topic.metadata.refresh.interval.ms` is 5 s instead of 5 min. The topic has six partitions
with three copies (two where partitions move) and `min.insync.replicas=2`. The brokers differ from the defaults in:
no automatic creation of topics, `group.initial.rebalance.delay.ms=0`, four partitions for offsets.

## Goals

Nothing lost, nothing doubled, order kept, and not slower than confluent-kafka: our median is not above its median by
more than its own spread, a tenth of it, and half a second (the largest of these).

{verdict}

## Records

`lost, doubled, order`. Producer: acknowledged and not in the log; twice in the log; behind a later one of its
partition. Group: in the log and delivered to nobody; delivered again to the owner or after its commit; after a later
one. Again: delivered again after the last commit, as at-least-once allows, in all rounds together.

{records}
## Seconds until it goes on

The longest time from the fault on in which a partition got no acknowledgement, or brought a group no new record, in the
worst partition; the other producer's records count for the groups too, so a group does not wait for its own client's
producer. kserdes / confluent-kafka, median (lowest to highest); bold is slower.

{silences}
## Longest waits

Of single records: from `produce()` to the acknowledgement, and from there to the first delivery in a group (of records
handed over since the fault began). And the longest time in which a group committed nothing, beyond the 5 s of
`auto.commit.interval.ms`.

{waits}
## The faults

{faults}"""
