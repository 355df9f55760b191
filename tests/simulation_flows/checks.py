"""Invariants of every operation and of a whole run, judged by the registry's history.

Must not know how callers take turns, nor how the client works: what is demanded here is what users are promised.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

from registry import RegisteredSchema, Schema, SchemaRegistryError
from serdes import SerializationError
from tests.simulation_flows.actors import OWN_TEXT
from tests.simulation_flows.world import RETRIES, TEXTS, TIMEOUT_S, URLS, Op, Sent, World

MAX_ASKS = 3
"""Calls of the registry that one operation may need one after the other."""
CHANGES = ("register_schema", "delete_subject", "delete_version", "write registering")
CLEARS = ("clear_caches", "clear_latest_caches")
INTERRUPTS = (asyncio.CancelledError, KeyboardInterrupt)


def check_op(world: World, op: Op) -> None:
    """Everything that can be said of one operation when it has ended."""
    error = op.error
    if isinstance(error, INTERRUPTS):
        if not op.told_to_stop:
            world.fail(f"{op.caller} was stopped ({error!r}) because somebody else was")
        return
    if error is not None and not isinstance(error, (SchemaRegistryError, SerializationError)):
        world.fail(f"{op.caller} got {error!r}")
    _check_bounds(world, op)
    if error is None:
        _right(world, op)
    else:
        _check_error(world, op, error)


def check_end(world: World) -> None:
    """Checks that need the whole run."""
    _check_shared(world)
    _check_kept(world)
    _check_deletions(world)
    errors = [op.error for op in world.ops if op.error is not None]
    if len({id(error) for error in errors}) != len(errors):
        world.fail("two callers got the same error object: what one does with it, the other sees")


# --- bounds


def _check_bounds(world: World, op: Op) -> None:
    tries = (RETRIES + 1) * len(URLS) * MAX_ASKS
    if len(op.sends) > tries:
        world.fail(f"{op.caller} sent {len(op.sends)} requests for one operation")
    limit_s = MAX_ASKS * TIMEOUT_S * (RETRIES + 2) + 1.0
    if op.ended_s - op.began_s > limit_s:
        world.fail(f"{op.caller} waited {op.ended_s - op.began_s:.1f} s, {limit_s} at the most are promised")


def _check_deletions(world: World) -> None:
    for op in world.ops:
        if op.kind in ("delete_subject", "delete_version"):
            done = [sent for sent in op.sends if sent.applied is not None]
            if len(done) > 1:
                world.fail(f"{op.caller}: a deletion was carried out twice: {[sent.what for sent in done]}")


# --- answers


def _right(world: World, op: Op) -> None:
    check = ANSWERS.get(op.kind)
    if check is not None:
        check(world, op)


def _schema_of_id(world: World, op: Op) -> None:
    _is(world, op, op.result, Schema(world.registry.text(op.args[0])))


def _newest(world: World, op: Op) -> None:
    found = _of_subject(world, op)
    _fresh(world, op, op.args[0], found.schema_id, op.result)


def _version(world: World, op: Op) -> None:
    found = _of_subject(world, op)
    versions = world.registry.versions[op.args[0]]
    _is(world, op, (found.version, found.schema_id), (op.args[1], versions[op.args[1] - 1].schema_id))


def _looked_up(world: World, op: Op) -> None:
    found = _of_subject(world, op)
    _is(world, op, found.schema, Schema(op.args[1]))
    _registered(world, op, op.args[0], found.schema_id)


def _of_subject(world: World, op: Op) -> RegisteredSchema:
    found = op.result
    assert isinstance(found, RegisteredSchema)
    _is(world, op, found.subject, op.args[0])
    _is(world, op, found.schema, Schema(world.registry.text(found.schema_id)))
    return found


def _made(world: World, op: Op) -> None:
    _is(world, op, world.registry.text(op.result), op.args[1])
    _registered(world, op, op.args[0], op.result)


def _written_latest(world: World, op: Op) -> None:
    schema_id = _frame(world, op)
    _fresh(world, op, op.args[0], schema_id, op.result)


def _written_registering(world: World, op: Op) -> None:
    schema_id = _frame(world, op)
    _is(world, op, world.registry.text(schema_id), OWN_TEXT)
    _registered(world, op, op.args[0], schema_id)


def _frame(world: World, op: Op) -> int:
    schema_id = int.from_bytes(op.result[1:5], "big")
    _is(world, op, op.result[5:].decode(), world.registry.text(schema_id))
    return schema_id


def _read(world: World, op: Op) -> None:
    _is(world, op, op.result, (world.registry.text(op.args[1]), None))


def _read_latest(world: World, op: Op) -> None:
    writer, reader = op.result
    _is(world, op, writer, world.registry.text(op.args[1]))
    _fresh(world, op, op.args[0], world.registry.ids.get(reader), reader)


ANSWERS: dict[str, Callable[[World, Op], None]] = {
    "get_schema": _schema_of_id,
    "get_latest_version": _newest,
    "get_version": _version,
    "lookup_schema": _looked_up,
    "register_schema": _made,
    "write latest": _written_latest,
    "write registering": _written_registering,
    "read": _read,
    "read latest": _read_latest,
}


def _is(world: World, op: Op, found: Any, wanted: Any) -> None:
    if found != wanted:
        world.fail(f"{op.caller} asked for {op.kind} {op.args} and got another's answer: {found!r}, not {wanted!r}")


def _own_change(world: World, op: Op, subject: str, kinds: tuple[str, ...]) -> int:
    """The last event before the operation after which the client must not believe what it believed of a subject."""
    changed = [
        other.ended
        for other in world.ops
        if other.ended is not None
        and other.ended < op.began
        and (other.kind in CLEARS or (other.kind in kinds and other.args[0] == subject))
        and (other.kind in CLEARS or any(sent.applied is not None for sent in other.sends))
        and not isinstance(other.error, INTERRUPTS)
    ]
    return max(changed, default=0)


def _fresh(world: World, op: Op, subject: str, schema_id: int | None, shown: Any) -> None:
    """It was the newest version at some moment since the last change of our own, and within one life of the cache."""
    since = _own_change(world, op, subject, CHANGES)
    if world.ttl_s is not None:
        slowest_s = max((sent.ended_s - sent.began_s for sent in world.sent if sent.ended is not None), default=0.0)
        oldest_s = op.began_s - world.ttl_s - slowest_s
    else:
        oldest_s = 0.0
    states = world.registry.latest[subject]
    assert op.ended is not None
    for number, (event, _, newest) in enumerate(states):
        following = states[number + 1] if number + 1 < len(states) else (op.ended + 1, op.ended_s + 1, None)
        if newest == schema_id and event <= op.ended and following[0] > since and following[1] > oldest_s:
            return
    world.fail(
        f"{op.caller} asked for {op.kind} {subject} and got what is old: {shown!r} since event {since}; {states}"
    )


def _registered(world: World, op: Op, subject: str, schema_id: int) -> None:
    """It was registered at some moment since our own last deletion."""
    since = _own_change(world, op, subject, ("delete_subject", "delete_version"))
    if any(other.kind == "clear_latest_caches" and other.ended == since for other in world.ops):
        return  # that one forgets no registration
    states = world.registry.registered.get((subject, schema_id), [(0, False)])
    assert op.ended is not None
    for number, (event, there) in enumerate(states):
        following = states[number + 1][0] if number + 1 < len(states) else op.ended + 1
        if there and event <= op.ended and following > since:
            return
    world.fail(
        f"{op.caller}: {op.kind} {op.args} says that id {schema_id} is registered in {subject}; since {since} it is not"
    )


# --- errors


def _check_error(world: World, op: Op, error: BaseException) -> None:
    cause = error.__cause__ if isinstance(error, SerializationError) else error
    if not isinstance(cause, SchemaRegistryError):
        world.fail(f"{op.caller} got {error!r} of {cause!r}")
        return
    if cause.error_code == 40403 and op.kind in ("get_schema", "read", "read latest"):
        _unknown(world, op, op.args[-1])
    if cause.retriable and not any(_failed(sent) and _during(sent, op) for sent in world.sent):
        world.fail(f"{op.caller} got {error!r}, and no request failed")


def _failed(sent: Sent) -> bool:
    return sent.outcome not in ("200", "")


def _during(sent: Sent, op: Op) -> bool:
    return sent.ended is not None and op.ended is not None and sent.ended > op.began and sent.began < op.ended


def _unknown(world: World, op: Op, schema_id: int) -> None:
    """The id was unknown at some moment in the life of the cache, and this client had not shown otherwise before."""
    known_since = world.registry.known_since.get(schema_id)
    if known_since is None:
        return
    for other in world.ops:
        if other.ended is not None and other.ended < op.began and _shows(world, other) == schema_id:
            world.fail(f"{op.caller}: id {schema_id} is said to be unknown, though {other.caller} was given it before")
    born_s = next(states[0][1] for states in _births(world, known_since))
    slowest_s = max((sent.ended_s - sent.began_s for sent in world.sent if sent.ended is not None), default=0.0)
    if born_s < op.began_s - world.missing_ttl_s - slowest_s - TIMEOUT_S:
        world.fail(f"{op.caller}: id {schema_id} is said to be unknown, but is known for {op.began_s - born_s:.1f} s")


def _births(world: World, event: int) -> list[list[tuple[int, float]]]:
    """The first change of a subject at or after an event, with its time."""
    return [
        found
        for states in world.registry.latest.values()
        if (found := [(number, at_s) for number, at_s, _ in states if number >= event])
    ] or [[(event, world.now_s)]]


def _shows(world: World, op: Op) -> int | None:
    """The id that an operation proved to be known, if it did."""
    if op.error is not None or op.kind not in ANSWERS:
        return None
    if op.kind == "register_schema":
        return int(op.result)
    if op.kind == "write registering":
        return world.registry.ids[OWN_TEXT]
    return None


# --- requests


FORGETS = (*CHANGES, *CLEARS)


def _forgets(world: World, first: int, last: int) -> bool:
    """Whether anything of ours changed or was cleared between two events; what a caller began may end without it."""
    return any(op.kind in FORGETS and op.began <= last and _last_event(op) >= first for op in world.ops)


def _last_event(op: Op) -> float:
    ends = [op.ended, *(sent.ended for sent in op.sends)]
    return max(math.inf if end is None else end for end in ends)


def _look_up(sent: Sent) -> bool:
    return sent.method == "GET" or (sent.method == "POST" and "/versions" not in sent.what)


def _check_shared(world: World) -> None:
    """Callers that want the same thing at the same time make one request."""
    under_way: dict[str, Sent] = {}
    for sent in world.sent:
        if not _look_up(sent):
            continue
        known = under_way.get(sent.what)
        if known is not None and (known.ended is None or known.ended > sent.began):
            first = min(one.op.began if one.op is not None else 0 for one in (known, sent))  # retries begin later
            if known.op is not sent.op and not _forgets(world, first, sent.began) and not _abandoned(known):
                world.fail(f"two requests at once for {sent.what} (events {known.began} and {sent.began})")
        under_way[sent.what] = sent


def _abandoned(sent: Sent) -> bool:
    """Whether whoever waited for it was interrupted: nobody reads its answer."""
    return sent.ended is None


def _check_kept(world: World) -> None:
    """Answers are not asked for again, nor unknown ids."""
    for op in world.ops:
        if op.kind != "get_schema" or op.ended is None or isinstance(op.error, INTERRUPTS):
            continue
        unknown = isinstance(op.error, SchemaRegistryError) and op.error.not_found
        if op.error is not None and not unknown:
            continue
        path = f"GET /schemas/ids/{op.args[0]} "
        told_s = max((s.ended_s for s in world.sent if s.what == path and s.ended and s.ended < op.ended), default=0.0)
        for sent in world.sent:
            if sent.what == path and sent.op is not None and sent.op.began > op.ended:
                later = unknown and sent.began_s >= told_s + world.missing_ttl_s - 1e-9
                shown = unknown and _shown_between(world, op.began, sent.began)
                if not later and not shown and not _forgets(world, op.began, sent.began):
                    world.fail(f"id {op.args[0]} was asked for again at event {sent.began}, known since {op.ended}")
                break


def _shown_between(world: World, first: int, last: int) -> bool:
    """Whether an answer in between may have shown any id."""
    return any(
        sent.outcome == "200" and "/schemas/ids" not in sent.what and sent.began < last and (sent.ended or 0) > first
        for sent in world.sent
    )


__all__ = ["TEXTS", "check_end", "check_op"]
