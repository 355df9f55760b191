"""Share groups as random members make them: nobody has what another has, and every record comes to an end."""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import example, given
from hypothesis import strategies as st

from kafka_core.broker.sharing.records import (
    Acknowledge,
    Acknowledgement,
    Limits,
    RecordState,
    ShareRecords,
    Stretch,
)

MEMBERS = ["a", "b", "c"]
LOCK_S = 10.0
LIMITS = Limits(delivery_count=4, lock_s=LOCK_S, max_locks=40)
Step = tuple[str, int, int, int]

steps = st.lists(
    st.tuples(
        st.sampled_from(["acquire", "strict", "answer", "answer", "die", "wait", "delete", "lead"]),
        st.integers(0, len(MEMBERS) - 1),
        st.integers(1, 12),
        st.integers(0, 4),
    ),
    max_size=60,
)
batches = st.lists(st.tuples(st.integers(1, 9), st.booleans()), min_size=1, max_size=12)


@dataclass
class Model:
    """The state of each offset, one by one: the slow and obvious way."""

    stretches: list[Stretch]
    deliveries: dict[int, int] = field(default_factory=dict)
    holder: dict[int, str] = field(default_factory=dict)
    lock_end_s: dict[int, float] = field(default_factory=dict)
    ended: dict[int, Acknowledge] = field(default_factory=dict)
    log_start: int = 0

    def take(self, member: str, first: int, last: int, count: int, now_s: float) -> None:
        for offset in range(first, last + 1):
            assert offset not in self.holder, f"{offset} is {self.holder[offset]}'s"
            assert offset not in self.ended, f"{offset} was {self.ended[offset].name}ed"
            assert offset >= self.log_start
            assert not any(item.is_void for item in self.stretches if item.first <= offset <= item.last)
            self.deliveries[offset] = self.deliveries.get(offset, 0) + 1
            assert count == self.deliveries[offset] <= LIMITS.delivery_count
            self.holder[offset], self.lock_end_s[offset] = member, now_s + LOCK_S

    def give_back(self, offset: int) -> None:
        del self.holder[offset]
        if self.deliveries[offset] >= LIMITS.delivery_count:
            self.ended[offset] = Acknowledge.REJECT

    def answer(self, offset: int, kind: Acknowledge, now_s: float) -> None:
        if kind is Acknowledge.RENEW:
            self.lock_end_s[offset] = now_s + LOCK_S
        elif kind is Acknowledge.RELEASE:
            self.give_back(offset)
        else:
            del self.holder[offset]
            self.ended[offset] = kind


def _stretches(sizes: list[tuple[int, bool]]) -> list[Stretch]:
    found, first = [], 0
    for size, is_void in sizes:
        found.append(Stretch(first, first + size - 1, is_void))
        first += size
    return found


def _acquire(records: ShareRecords, model: Model, member: str, count: int, now_s: float, *, strict: bool) -> int:
    records.begin_at(model.log_start)
    first = records.next_offset(LIMITS)
    if first is None:
        return 0
    seen = [item for item in model.stretches if item.last >= first][:6]
    before = records.end_offset - records.start_offset
    taken = records.acquire(member, seen, LIMITS, now_s, max_records=count, batch_size=5, strict=strict)
    for item in taken:
        model.take(member, item.first, item.last, item.delivery_count, now_s)
    total = sum(item.last - item.first + 1 for item in taken)
    assert total <= count or not strict
    voids = sum(item.last - item.first + 1 for item in seen if item.is_void)  # they need no lock
    assert records.end_offset - records.start_offset <= max(before, LIMITS.max_locks + 9 + 5 + voids)
    return total


def _check(records: ShareRecords, model: Model) -> None:
    """Every run says what the model says of its offsets, and there is one for each offset in flight."""
    expected = records.start_offset
    for run in records.runs:
        assert run.first == expected
        expected = run.last + 1
        assert run.batch[0] <= run.first <= run.last <= run.batch[1]
        for offset in range(run.first, run.last + 1):
            is_void = any(item.is_void for item in model.stretches if item.first <= offset <= item.last)
            if offset in model.holder:
                assert run.is_of(model.holder[offset])
                assert run.locked_until_s == model.lock_end_s[offset]
            elif model.ended.get(offset) is Acknowledge.ACCEPT:
                assert run.state is RecordState.ACKNOWLEDGED
            else:
                archived = is_void or offset in model.ended
                assert run.state is (RecordState.ARCHIVED if archived else RecordState.AVAILABLE)
            if not is_void:
                assert run.delivery_count == model.deliveries.get(offset, 0)
    assert expected == records.end_offset
    assert not records.runs or not records.runs[0].is_done


def _do(records: ShareRecords, model: Model, step: Step, now_s: float) -> None:
    what, who, number, kind_number = step
    member = MEMBERS[who]
    if what in ("acquire", "strict"):
        _acquire(records, model, member, number, now_s, strict=what == "strict")
    elif what == "answer":
        mine = sorted(offset for offset, holder in model.holder.items() if holder == member)[:number]
        kinds = [Acknowledge((kind_number + index) % 5) for index in range(len(mine))]
        said = [Acknowledgement(offset, offset, [kind]) for offset, kind in zip(mine, kinds, strict=True)]
        assert records.acknowledge(member, said, LIMITS, now_s) is None
        for offset, kind in zip(mine, kinds, strict=True):
            model.answer(offset, kind, now_s)
        others = [offset for offset, holder in model.holder.items() if holder != member]
        for offset in others[:1]:
            assert records.acknowledge(member, [Acknowledgement(offset, offset, [1])], LIMITS, now_s) is not None
    elif what == "die":
        mine = [offset for offset, holder in model.holder.items() if holder == member]
        assert records.release(member, LIMITS) == bool(mine)
        for offset in mine:
            model.give_back(offset)
    elif what == "wait":
        over = [offset for offset, end_s in model.lock_end_s.items() if offset in model.holder and end_s <= now_s]
        assert records.expire(LIMITS, now_s) == bool(over)
        for offset in over:
            model.give_back(offset)
    elif what == "delete":
        model.log_start = max(model.log_start, min(records.start_offset + kind_number, model.stretches[-1].last + 1))
        records.begin_at(model.log_start)
        for offset in [offset for offset in model.holder if offset < model.log_start]:
            del model.holder[offset]
    else:
        records.forget_locks()
        for offset in list(model.holder):
            del model.holder[offset]
            model.deliveries[offset] -= 1


VOIDS_AMONG_NEW = [
    (1, False),
    (1, False),
    (1, True),
    (8, True),
    (9, False),
    (9, True),
    (8, False),
    (9, True),
    (9, False),
]


@given(batches, steps)
@example(VOIDS_AMONG_NEW, [("acquire", 0, 3, 0), ("acquire", 0, 9, 0)])
def test_no_record_is_two_members_and_every_record_comes_to_an_end(
    sizes: list[tuple[int, bool]], todo: list[Step]
) -> None:
    model = Model(_stretches(sizes))
    records = ShareRecords(0)
    now_s, start = 0.0, 0
    for step in todo:
        now_s += step[2] if step[0] == "wait" else 0.25
        _do(records, model, step, now_s)
        _check(records, model)
        assert records.start_offset >= start
        start = records.start_offset
    for member in MEMBERS:
        _do(records, model, ("die", MEMBERS.index(member), 1, 0), now_s)
    end = model.stretches[-1].last + 1
    while records.start_offset < end:
        before = records.start_offset, records.end_offset
        if not _acquire(records, model, "a", 5, now_s, strict=False):
            assert (records.start_offset, records.end_offset) != before  # what members never see was passed
            continue
        _do(records, model, ("answer", 0, 100, 1 if now_s % 2 else 3), now_s)
        for offset in [offset for offset, holder in model.holder.items() if holder == "a"]:
            assert records.acknowledge("a", [Acknowledgement(offset, offset, [1])], LIMITS, now_s) is None
            model.answer(offset, Acknowledge.ACCEPT, now_s)
        _check(records, model)
    assert records.start_offset == end
    for stretch in model.stretches:
        for offset in range(stretch.first, stretch.last + 1):
            assert stretch.is_void or offset in model.ended or offset < model.log_start
