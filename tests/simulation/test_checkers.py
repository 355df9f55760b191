"""Each checker is shown a history that breaks its promise, and one that does not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kafka_core.engine.groups.consumer_protocol import encode_assignment
from kafka_core.errors import KafkaError
from tests.simulation.history import Event, History
from tests.simulation.judge import CHECKERS
from tests.simulation.pipe_app import OUTPUT
from tests.simulation.plan import Action, Client, Plan
from tests.simulation.world import Run

CLIENTS = (
    Client("p", "producer", {"enable.idempotence": True}),
    Client("q", "producer", {"enable.idempotence": False}),
    Client("r", "reader", {"group.id": "g-r", "auto.offset.reset": "earliest"}, {"start": [("t", 0, 0)]}),
    Client("m", "member", {"group.id": "g", "auto.offset.reset": "earliest"}, {"topics": ["t"]}),
    Client("n", "member", {"group.id": "g", "auto.offset.reset": "earliest"}, {"topics": ["t"]}),
)
PLAN = Plan(0, "forged", 1, {"t": 1}, CLIENTS, ())

Entry = tuple[Any, ...]


def run_of(*entries: Entry, log: list[str] | None = None, **facts: Any) -> Run:
    """A run with these events, (who, what, *data) each, one tenth of a second apart, and this log of t[0]."""
    history = History(lambda: 0.0)
    history.events = [Event(0.1 * number, entry[0], entry[1], entry[2:]) for number, entry in enumerate(entries)]
    records = list(enumerate(log or []))
    return Run(PLAN, history, truth={(0, 0): records}, incarnations=[("t", 1)], **facts)


def found(checker: str, run: Run) -> list[str]:
    return list(CHECKERS[checker](run))


def report(value: str, offset: int = 0, code: int | None = None) -> Entry:
    return ("p", "report", value, code, "t", 0, offset, 0)


def deliver(who: str, offset: int, begun: int = 0) -> Entry:
    return (who, "deliver", "t", 0, offset, f"p:{offset + 1}", begun)


READS = [("r", "assign", (("t", 0, 0, 9),)), deliver("r", 0), deliver("r", 1), deliver("r", 2)]
MADE_ANEW = ("cluster", "topic", "t", 2, 1)
LOST = ("cluster", "lost", "t", 0, 1, ("p:2", "p:3", "p:4"))
TRUNCATED = KafkaError._LOG_TRUNCATION
OWNS = ("m", "owns", (("t", 0),), 1, "m-1")
LOG = ["p:1", "p:2", "p:3"]
SENDS = [("p", "send", "p:1", "t"), ("p", "send", "p:2", "t")]

PIPED = [("x", "pipe", "x#1", "p:1"), ("x", "pipe", "x#1", "p:2")]


def piped(*entries: Entry, output: list[str], **facts: Any) -> Run:
    """A run with a pipe that reads p:1 and p:2 of t, and this committed output."""
    run = run_of(*entries, log=["p:1", "p:2"], **facts)
    run.plan = replace(PLAN, clients=(*CLIENTS, Client("x", "pipe", {})))
    run.incarnations.append((OUTPUT, 2))
    run.committed = {(1, 0): list(enumerate(output))}
    return run


CALM = (Action(0.0, "want", ("*", 100)), Action(0.0, "start", ("p",)))


def push(
    start: int = 0, end_ms: int = 0, made: int = 0, *, code: int = 0, end: bool = False, strays: Any = ()
) -> Entry:
    """A push of p: what it covers, connections, the broker's word of it."""
    covers = (start, end_ms) if end_ms else None
    return ("cluster", "pushed", "p", code, end, covers, made, list(strays))


def pushing(*entries: Entry, actions: tuple[Action, ...] = (Action(0.0, "cut", (None, None)),)) -> Run:
    """A run in which p, which made one connection, pushes metrics."""
    run = run_of(("p", "connected"), *entries)
    run.plan = replace(PLAN, scenario="telemetry", actions=actions)
    return run


SHARERS = (
    Client("s", "sharer", {}, {"mode": "explicit"}),
    Client("i", "sharer", {}, {"mode": "implicit"}),
)
SHARES = {"group.share.record.lock.duration.ms": "10000", "group.share.delivery.count.limit": "2"}


def sharing(*entries: Entry, actions: tuple[Action, ...] = ()) -> Run:
    """A run with members "S" and "I" of a share group, and two records in t[0]."""
    run = run_of(*entries, log=["p:1", "p:2"])
    run.plan = replace(PLAN, clients=(*CLIENTS, *SHARERS), properties=SHARES, actions=actions)
    return run


def acquired(who: str, first: int, last: int, count: int = 1) -> Entry:
    return ("cluster", "acquired", who, "t", 0, ((first, last, count),))


def acked(who: str, first: int, *kinds: int, code: int = 0) -> Entry:
    return ("cluster", "acked", who, "t", 0, ((first, kinds),), code)


def took(who: str, offset: int, count: int = 1) -> Entry:
    return (who.lower(), "took", who, "t", 0, offset, count, f"p:{offset + 1}")


def says(offset: int, word: str) -> Entry:
    return ("s", "says", "S", "t", 0, offset, word)


def confirmed(*offsets: int) -> Entry:
    return ("s", "confirmed", "S", "t", 0, offsets, None)


ACCEPTED_BY_S = [
    acquired("S", 0, 1),
    took("S", 0),
    took("S", 1),
    says(0, "ACCEPT"),
    says(1, "ACCEPT"),
    acked("S", 0, 1, 1),
]
GIVEN_TWICE = [
    acquired("S", 0, 1),
    took("S", 0),
    took("S", 1),
    says(0, "RELEASE"),
    says(1, "REJECT"),
    acked("S", 0, 2, 3),
    confirmed(0, 1),
    acquired("I", 0, 0, 2),
    took("I", 0, 2),
    ("i", "polls", "I"),
    acked("I", 0, 1),
]
STOPPED = (Action(0.0, "kill", ("s",)),)

GOOD: dict[str, Run] = {
    "windows": pushing(  # the answer to the second push was lost, then nothing that tells its window is asked for
        push(10, 20), push(20, 30), push(20, 40), push(code=117), push(), push(70, 80), push(85, 90, end=True)
    ),
    "totals": pushing(
        push(1, 2, made=1), push(code=117), push(code=89), push(2, 4), push(4, 5, end=True), actions=CALM
    ),
    "shared": sharing(
        *GIVEN_TWICE,
        acked("S", 1, 1),  # of what lies before the start: passed over
        acked("S", 1, 1, code=121),
    ),
    "words": sharing(*GIVEN_TWICE),
    "settled": sharing(*GIVEN_TWICE),
    "whole": piped(*PIPED, output=[]),
    "once": piped(output=["p:2", "p:1"]),
    "stable": run_of(),
    "acknowledged": run_of(report("p:1"), report("p:2", 1), report("p:9", -1, -192), log=LOG),
    "doubled": run_of(log=[*LOG, "q:1", "q:1"]),
    "order": run_of(log=["p:1", "q:2", "p:2", "q:1", "p:4"]),
    "reports": run_of(("p", "queued", "p:1"), report("p:1"), ("q", "queued", "q:1"), ("p", "ended")),
    "recovered": run_of(("p", "send", "p:1", "t"), ("cluster", "recovered"), report("p:1", -1, -192)),
    "positions": run_of(*READS, ("r", "seek", "t", 0, 1, 9), deliver("r", 1, 4)),
    "delivered": run_of(*(deliver("m", offset) for offset in range(3)), log=LOG),
    "committed": run_of(deliver("m", 0), deliver("n", 1), ("cluster", "committed", "g", "t", 0, 2)),
    "backwards": run_of(
        ("cluster", "held", "g", [(0, 1)]),
        ("cluster", "committed", "g", "t", 0, 2),
        ("cluster", "committed", "g", "t", 0, 2),
        ("cluster", "committed", "g", "t", 0, 1),
    ),
    "owners": run_of(
        OWNS,
        ("m", "gives", (("t", 0),), 1, "m-1"),
        ("cluster", "generation", "g", 2, {"m-1": b"", "n-1": encode_assignment([("t", 0)])}),
    ),
    "holds": run_of(
        ("cluster", "generation", "g", 1, {"m-1": encode_assignment([("t", 0)]), "n-1": b""}),
        OWNS,
        ("n", "owns", (), 1, "n-1"),
        ("cluster", "generation", "g", 2, {"m-1": encode_assignment([("t", 1)]), "n-1": b""}),
        ("m", "gives", (("t", 0),), 2, "m-1"),
        ("m", "owns", (("t", 1),), 2, "m-1"),
        ("cluster", "kill", "m"),
        ("cluster", "generation", "g", 3, {"m-1": b""}),
        ("m", "owns", (), 3, "m-1"),
        ("m", "owns", (("t", 9),), -1, ""),  # put out of the group meanwhile, which it hears next
    ),
    "apart": run_of(
        ("cluster", "joins", "g", "m-1"),
        ("cluster", "granted", "g", 1, {"m-1": (("t", 0),)}),
        OWNS,
        ("m", "gives", (("t", 0),), 1, "m-1"),
        ("cluster", "granted", "g", 2, {"m-1": (("t", 0),), "n-1": ()}),
        ("m", "given", (("t", 0),)),
        ("cluster", "granted", "g", 2, {"m-1": (), "n-1": (("t", 0),)}),
        ("n", "owns", (("t", 0),), 2, "n-1"),
        ("cluster", "granted", "g", 3, {"m-1": (("t", 0),)}),  # n was put out of the group, and does not know it yet
        ("m", "owns", (("t", 0),), 3, "m-1"),
    ),
    "told": run_of(
        *READS,
        LOST,
        deliver("r", 3),  # it was on its way
        ("r", "event", TRUNCATED, "t", 0, "…"),
        deliver("r", 1),
        ("r", "assign", (("t", 0, 2, 9),)),
        deliver("r", 2),
        LOST,
        ("r", "assign", (("t", 0, 1, 1),)),
        deliver("r", 1),
    ),
    "administered": run_of(
        ("a", "administer", "create", "u", 2),
        ("cluster", "topic", "u", 1, 2),
        ("a", "administered", "create", "u", 2, None, 0),
        ("a", "administer", "delete", "u", 0),
        ("a", "administered", "delete", "u", 0, -185, 3),
        ("a", "listed", "t", 0, 2, 1, 3, 3),
    ),
    "ending": run_of(memory={"p": (10, 10)}),
    "memory": run_of(memory={"p": (10, 10)}),
}

BAD: list[tuple[str, str, Run]] = [
    ("acknowledged", "is in no log", run_of(report("p:7"), log=LOG)),
    ("acknowledged", "was acknowledged at", run_of(report("p:1", 2), log=LOG)),
    ("doubled", "2 times", run_of(log=["p:1", "p:2", "p:1"])),
    ("order", "stands behind p:2", run_of(log=["p:2", "p:1"])),
    ("order", "stands behind p:2", run_of(SENDS[0], report("p:1"), SENDS[1], LOST, log=["p:2", "p:1"])),
    ("order", "stands behind p:2", run_of(LOST, *SENDS, log=["p:2", "p:1"])),
    ("reports", "reported 2 times", run_of(report("p:1"), report("p:1"))),
    ("reports", "never reported", run_of(("p", "queued", "p:1"), ("p", "ended"))),
    ("reports", "refused by produce() and reported", run_of(("p", "refused", "p:1", "X", ""), report("p:1"))),
    (
        "recovered",
        "although everything works again",
        run_of(("cluster", "recovered"), ("p", "send", "p:1", "t"), report("p:1", -1, -192)),
    ),
    (
        "recovered",
        "was refused",
        run_of(("cluster", "recovered"), ("p", "send", "p:1", "t"), ("p", "refused", "p:1", "X", "")),
    ),
    ("positions", "but 3 comes next", run_of(*READS, deliver("r", 4))),
    ("positions", "but 3 comes next", run_of(*READS, deliver("r", 2))),
    ("positions", "but 0 comes next", run_of(("r", "assign", (("t", 0, 0, 9),)), deliver("r", 1))),
    ("positions", "but 1 comes next", run_of(*READS, ("r", "seek", "t", 0, 1, 9), deliver("r", 3, 5))),
    (
        "positions",
        "got t[0] 0 (p:1), but 2 comes next",
        run_of(*READS, MADE_ANEW, deliver("r", 0), deliver("r", 1), deliver("r", 0)),
    ),
    ("positions", "but 3 comes next", run_of(*READS, LOST, deliver("r", 2))),
    ("told", "had read from 1 on", run_of(*READS, LOST, deliver("r", 9))),
    ("told", "had read from 1 on", run_of(*READS, ("r", "event", TRUNCATED, "t", 1, "…"), LOST, deliver("r", 9))),
    ("positions", "not assigned to it", run_of(*READS, ("r", "assign", ()), deliver("r", 3, 5))),
    ("positions", "not assigned to it", run_of(OWNS, ("m", "gives", (("t", 0),), 1, "m-1"), deliver("m", 0, 2))),
    ("positions", "which it had", run_of(OWNS, OWNS)),
    ("positions", "which it had not", run_of(("m", "loses", (("t", 0),), 1, "m-1"))),
    (
        "positions",
        "but 2 comes next",
        run_of(("cluster", "committed", "g", "t", 0, 2), OWNS, deliver("m", 3, 2)),
    ),
    (
        "delivered",
        "1 of 3 records of t[0] were never delivered to g",
        run_of(deliver("m", 0), deliver("n", 2), log=LOG),
    ),
    ("committed", "but 1 was not delivered yet", run_of(deliver("m", 0), ("cluster", "committed", "g", "t", 0, 2))),
    (
        "committed",
        "but 1 was not delivered yet",
        run_of(deliver("m", 0), deliver("m", 2), ("cluster", "committed", "g", "t", 0, 3)),
    ),
    (
        "backwards",
        "committed 1 of t[0]",
        run_of(
            ("cluster", "held", "g", [(0, 0), (1, 1)]),
            ("cluster", "committed", "g", "t", 0, 2),
            ("cluster", "committed", "g", "t", 0, 1),
        ),
    ),
    (
        "owners",
        "was given to m-1 and to n-1",
        run_of(
            ("cluster", "generation", "g", 2, dict.fromkeys(("m-1", "n-1"), encode_assignment([("t", 0)]))),
        ),
    ),
    (
        "owners",
        "while m held it since generation 1",
        run_of(OWNS, ("cluster", "generation", "g", 2, {"m-1": b"", "n-1": encode_assignment([("t", 0)])})),
    ),
    (
        "holds",
        "m held [('t', 0), ('t', 1)] at 0.300, but generation 2 gave [('t', 1)] to it",
        run_of(
            ("cluster", "generation", "g", 1, {"m-1": encode_assignment([("t", 0)])}),
            OWNS,
            ("cluster", "generation", "g", 2, {"m-1": encode_assignment([("t", 1)])}),
            ("m", "owns", (("t", 1),), 2, "m-1"),
        ),
    ),
    (
        "holds",
        "m held [] at 0.100, but generation 1 gave [('t', 0)] to it",
        run_of(
            ("cluster", "generation", "g", 1, {"m-1": encode_assignment([("t", 0)])}),
            ("m", "owns", (), 1, "m-1"),
        ),
    ),
    (
        "holds",
        "m still held [('t', 0)] of m-1 at 0.200, as 'm-2'",
        run_of(
            ("cluster", "generation", "g", 1, {"m-1": encode_assignment([("t", 0)])}),
            OWNS,
            ("m", "gives", (("t", 0),), -1, "m-2"),
        ),
    ),
    (
        "apart",
        "was given to m-1 and to n-1 in epoch 2",
        run_of(("cluster", "granted", "g", 2, dict.fromkeys(("m-1", "n-1"), (("t", 0),)))),
    ),
    (
        "apart",
        "was given to n-1 at",
        run_of(
            ("cluster", "granted", "g", 1, {"m-1": (("t", 0),)}),
            OWNS,
            ("m", "gives", (("t", 0),), 1, "m-1"),
            ("cluster", "granted", "g", 2, {"m-1": (), "n-1": (("t", 0),)}),
        ),
    ),
    (
        "apart",
        "which the group did not give to it",
        run_of(("cluster", "granted", "g", 1, {"m-1": (), "n-1": ()}), OWNS),
    ),
    ("shared", "when S had it until 10.000", sharing(acquired("S", 0, 0), acquired("I", 0, 0, 2))),
    ("shared", "with delivery count 1 after 1", sharing(acquired("S", 0, 0), acked("S", 0, 2), acquired("I", 0, 0))),
    ("shared", "was done with it", sharing(*ACCEPTED_BY_S, acquired("I", 1, 1, 2))),
    (
        "shared",
        "was done with it",
        sharing(
            *(acquired("S", 0, 0), ("cluster", "freed", "S", "t", 0)),
            *(acquired("S", 0, 0, 2), ("cluster", "freed", "S", "t", 0)),
            acquired("S", 0, 0, 3),
        ),
    ),
    ("shared", "when S had it", sharing(acquired("S", 0, 0), ("cluster", "unlocked", "t", 0), acquired("I", 0, 0, 2))),
    ("shared", "which did not have it", sharing(acquired("S", 0, 0), ("cluster", "led", "t", 0), acked("S", 0, 2))),
    ("shared", "although it had them", sharing(acquired("S", 0, 0), acked("S", 0, 1, code=121))),
    ("words", "the application's word was REJECT", sharing(*ACCEPTED_BY_S[:3], says(0, "REJECT"), acked("S", 0, 1))),
    ("words", "the application's word was None", sharing(acquired("I", 0, 0), took("I", 0), acked("I", 0, 1))),
    ("words", "that its word of t[0] 1 was taken", sharing(*ACCEPTED_BY_S, confirmed(0, 1), confirmed(1))),
    ("words", "which the group did not give to it", sharing(acquired("S", 0, 0), took("S", 0, 2))),
    ("words", "there is no record at t[0] 0", sharing(acquired("S", 0, 0), acked("S", 0, 0))),
    ("words", "s got p:2 as t[0] 0", sharing(acquired("S", 0, 0), ("s", "took", "S", "t", 0, 0, 1, "p:2"))),
    ("settled", "the first one, 1, is in the hands of S after 1", sharing(acquired("S", 0, 1), acked("S", 0, 3))),
    (
        "settled",
        "t[0] 0 was given out 2 times, and released 0 times",
        sharing(
            *ACCEPTED_BY_S[:3],
            ("cluster", "freed", "S", "t", 0),
            acquired("I", 0, 1, 2),
            took("I", 0, 2),
            acked("I", 0, 1, 1),
        ),
    ),
    (
        "administered",
        "create u 2 as done",
        run_of(("a", "administer", "create", "u", 2), ("a", "administered", "create", "u", 2, None, 0)),
    ),
    (
        "administered",
        "extend t 3 as done",
        run_of(
            ("cluster", "extended", "t", 3),
            ("cluster", "extended", "t", 2),
            ("a", "administered", "extend", "t", 3, None, 1),
        ),
    ),
    (
        "administered",
        "delete u 0 as done",
        run_of(("cluster", "deleted", "t"), ("a", "administered", "delete", "u", 0, None, 0)),
    ),
    ("administered", "got offset 4 of t[0]", run_of(("a", "listed", "t", 0, 4, 1, 3, 0))),
    ("windows", "left out what was before 30", pushing(push(10, 20), push(30, 40))),
    ("windows", "told 10 after 20", pushing(push(10, 20), push(10, 30), actions=CALM)),
    ("windows", "pushed x.y at 0.100, which nobody asked for", pushing(push(10, 20, strays=["x.y"]))),
    ("windows", "pushed a request that makes no sense", pushing(push(10, 20), push(code=42))),
    ("totals", "said no goodbye", pushing(push(10, 20, made=1), actions=CALM)),
    (
        "totals",
        "made 1 connections and told of [1, 1]",
        pushing(push(1, 2, made=1), push(2, 3, 1, end=True), actions=CALM),
    ),
    ("totals", "refused with THROTTLING", pushing(push(code=89), push(1, 3, 1, end=True), actions=CALM)),
    ("whole", "p:2 is not in the output", piped(*PIPED, ("x", "piped", "x#1"), output=["p:1"])),
    ("once", "p:1 is in the output 2 times", piped(output=["p:1", "p:2", "p:1"])),
    ("once", "p:1 is not in the output", piped(output=["p:2"])),
    ("stable", "left open: t[0]", run_of(open_transactions=["t[0] by producers [1]"])),
    ("ending", "not in time", run_of(late=["p: not closed"])),
    ("ending", "left behind", run_of(leftovers=["task x"])),
    ("ending", "unseen", run_of(problems=["Task exception was never retrieved"])),
    ("ending", "KeyError", run_of(("p", "broke", "produce", "KeyError", "'x'"))),
    ("memory", "11 bytes of 10", run_of(memory={"p": (11, 10)})),
]


@pytest.mark.parametrize("checker", CHECKERS)
def test_a_good_history_is_let_through(checker: str) -> None:
    assert found(checker, GOOD[checker]) == []


@pytest.mark.parametrize(("checker", "words", "run"), BAD, ids=[f"{item[0]}-{item[1][:24]}" for item in BAD])
def test_a_forged_history_is_caught(checker: str, words: str, run: Run) -> None:
    (text,) = found(checker, run)
    assert words in text


def test_what_was_on_its_way_of_a_topic_made_anew_may_come_when_there_is_another_already() -> None:
    late = [deliver("r", 0), deliver("r", 1)]
    assert found("positions", run_of(*READS, MADE_ANEW, MADE_ANEW, *late, deliver("r", 0), deliver("r", 1))) == []


def test_a_record_that_was_sent_again_to_the_topic_made_anew_is_delivered_from_both() -> None:
    """Seed 31182: its first answer was late, so the record is in the logs of the old and of the new topic."""
    once = [MADE_ANEW, deliver("m", 0), ("cluster", "committed", "g", "t", 0, 1)]
    both = {(life, 0): [(0, "p:1")] for life in range(2)}
    assert found("committed", replace(run_of(*once, *once), truth=both)) == []
    new_only = replace(run_of(*once, *once), truth={(1, 0): [(0, "p:1")]})
    assert len(found("committed", new_only)) == 1


def test_a_call_that_outlasts_two_assignments_may_hold_records_of_both() -> None:
    given_up = [("r", "assign", (("t", 0, 30, 9),)), ("r", "assign", ())]
    assert found("positions", run_of(*READS, *given_up, *(deliver("r", offset) for offset in (3, 4, 0, 1)))) == []
    (text,) = found("positions", run_of(*READS, *given_up, *(deliver("r", offset) for offset in (3, 0, 2))))
    assert "got t[0] 2 (p:3), which is not assigned to it" in text


def test_a_record_comes_again_when_a_member_was_killed() -> None:
    again = [("cluster", "freed", "S", "t", 0), acquired("I", 0, 1, 2), took("I", 0, 2), acked("I", 0, 1, 1)]
    assert found("settled", sharing(*ACCEPTED_BY_S[:3], *again, actions=STOPPED)) == []


def test_every_checker_is_shown_a_bad_history() -> None:
    assert {checker for checker, _, _ in BAD} == set(CHECKERS)


def test_records_on_their_way_at_an_unclean_election_have_no_order() -> None:
    run = run_of(*SENDS, LOST, report("p:2"), report("p:1", 1), log=["p:2", "p:1"])
    assert found("order", run) == []
