"""Lists are read to their end, or it is an error: no registry cuts one without a word."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from registry.client import paging
from registry.client.flows import get_subjects, get_versions
from registry.client.steps import Call, Flow, Reply
from registry.errors import UnexpectedAnswerError


@pytest.fixture(autouse=True)
def _any_bound(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Registries of these tests have bounds that no real one has."""
    if request.function is not test_a_short_list_takes_one_request:
        monkeypatch.setattr(paging, "SMALLEST_BOUND", 0)


class Server:
    """Answers lists as Confluent's registry does: a limit that is none, or above the bound, is the bound."""

    def __init__(self, names: list[Any], bound: int, change: Callable[[list[Any], int], None] | None = None) -> None:
        self.names = names
        self.bound = bound
        self.change = change or (lambda names, calls: None)
        self.calls: list[Call] = []

    def page(self, offset: int, limit: int) -> list[Any]:
        return self.names[offset : offset + (limit if 0 < limit <= self.bound else self.bound)]

    def __call__(self, call: Call) -> Reply:
        self.calls.append(call)
        assert len(self.calls) < 1000
        found = self.page(int(str(call.query.get("offset", 0))), int(str(call.query.get("limit", -1))))
        self.change(self.names, len(self.calls))
        return Reply(200, json.dumps(found).encode(), {}, "GET http://registry/subjects")


class Deaf(Server):
    """Gives its first entries, whatever it is asked for (Apicurio 3.0)."""

    def page(self, offset: int, limit: int) -> list[Any]:
        return self.names[: self.bound]


class Mixed(Server):
    """Pages over more than it shows, and sorts each page by itself (Apicurio 3.2: other artifacts, by creation)."""

    def page(self, offset: int, limit: int) -> list[Any]:
        return sorted(name for name in super().page(offset, limit) if not name.startswith("openapi"))


def run(server: Server, flow: Flow[Any]) -> Any:
    reply = None
    while True:
        try:
            step = flow.send(reply)
        except StopIteration as stop:
            return stop.value
        assert isinstance(step, Call)
        reply = server(step)


def subjects(server: Server, offset: int = 0, limit: int = -1) -> list[str]:
    found: list[str] = run(server, get_subjects(None, False, False, offset, limit))
    return found


def names(count: int) -> list[str]:
    return [f"s{number:04}" for number in range(count)]


@pytest.mark.parametrize("bound", [1, 2, 3, 10, 1000])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 9, 10, 11, 19, 20, 21, 100])
def test_every_page_is_read(count: int, bound: int) -> None:
    assert subjects(Server(names(count), bound)) == names(count)


@pytest.mark.parametrize("bound", [1, 2, 7, 1000])
@pytest.mark.parametrize(("offset", "limit"), [(0, 1), (0, 20), (5, 20), (5, -1), (95, 20), (200, 5), (0, 0), (-3, -1)])
def test_offset_and_limit_mean_what_they_say_whatever_the_registry_caps(offset: int, limit: int, bound: int) -> None:
    start = max(offset, 0)
    wanted = names(100)[start : start + limit if limit > 0 else None]
    assert subjects(Server(names(100), bound), offset, limit) == wanted


def test_a_limit_that_is_reached_needs_no_second_request() -> None:
    server = Server(names(100), 1000)
    assert subjects(server, 3, 5) == names(100)[3:8]
    assert [(call.query["offset"], call.query["limit"]) for call in server.calls] == [(3, 5)]


@pytest.mark.parametrize(("count", "requests"), [(0, 1), (1, 1), (9, 1), (10, 2), (11, 2)])
def test_a_short_list_takes_one_request(count: int, requests: int) -> None:
    server = Server(names(count), 1000)
    assert subjects(server) == names(count)
    assert len(server.calls) == requests


def test_an_entry_that_moves_over_the_edge_of_a_page_is_not_lost() -> None:
    def deleted_once(names: list[Any], calls: int) -> None:
        if calls == 1:
            del names[:3]

    assert subjects(Server(names(25), 10, deleted_once)) == names(25)[3:]


def test_entries_that_come_meanwhile_are_no_trouble() -> None:
    def added(names: list[Any], calls: int) -> None:
        if calls < 4:
            names.insert(0, f"new{calls}")

    assert set(names(25)) <= set(subjects(Server(names(25), 10, added)))


def test_a_list_that_never_rests_is_an_error() -> None:
    def always(names: list[Any], calls: int) -> None:
        del names[:12]

    with pytest.raises(UnexpectedAnswerError, match="the list changed each of 4 times while it was read"):
        subjects(Server(names(1000), 10, always))


def test_a_registry_that_ignores_the_offset_may_have_cut_its_list() -> None:
    with pytest.raises(
        UnexpectedAnswerError, match=r"gives these 1,000 entries whatever the offset.*max-subjects"
    ) as e:
        subjects(Deaf(names(1005), 1000))
    assert "GET http://registry/subjects" in str(e.value)
    with pytest.raises(UnexpectedAnswerError, match="these 500 entries"):
        run(Deaf(list(range(600)), 500), get_versions("s", False, False, 0, -1))


@pytest.mark.parametrize("count", [0, 1, 2, 499, 999])
def test_a_registry_that_ignores_the_offset_may_have_few_entries(count: int) -> None:
    assert subjects(Deaf(names(count), 1000)) == names(count)


@pytest.mark.parametrize("count", [1, 10, 11, 100])
def test_pages_that_leave_entries_out_or_mix_their_order_are_read_to_the_end(count: int) -> None:
    shown = names(count)[::-1]
    mixed = [name for pair in zip(shown, [f"openapi{name}" for name in shown], strict=True) for name in pair]
    assert sorted(subjects(Mixed(mixed, 10))) == names(count)


def test_a_list_of_versions_is_never_empty() -> None:
    with pytest.raises(UnexpectedAnswerError, match="an empty list, which a schema registry does not give here"):
        run(Server([], 10), get_versions("s", False, False, 0, -1))
    assert run(Server([], 10), get_versions("s", False, True, 0, -1)) == []
    assert run(Server([], 10), get_versions("s", False, False, 3, -1)) == []


@pytest.mark.parametrize("body", [b"{}", b'"abc"', b"[1]", b"[null]", b"null", b"7", b'{"status": "up"}', b"[[]]"])
def test_another_services_answer_is_no_list_of_subjects(body: bytes) -> None:
    flow = get_subjects(None, False, False, 0, -1)
    next(flow)
    with pytest.raises(UnexpectedAnswerError, match="lacks a required member"):
        flow.send(Reply(200, body))
