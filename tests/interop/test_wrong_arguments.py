"""Public methods of clients called with values of wrong types, one argument at a time, beside confluent_kafka's.

The classes of refusals are the same (ours may be more than one at a time), or `OTHERWISE` says what differs and why.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any, Final

import pytest

import kafka_core
import kafka_core.admin as our_admin

pytestmark = pytest.mark.interop
confluent = pytest.importorskip("confluent_kafka")
their_admin = pytest.importorskip("confluent_kafka.admin")

SHORT_S: Final = 0.01
VALUES: Final[dict[str, Any]] = {
    "str": "x",
    "int": 3,
    "none": None,
    "list": [],
    "ints": [3],
    "strs": ["a"],
    "bytes": b"x",
    "float": 1.5,
    "object": object(),
    "dict": {},
}
CLASSES: Final = (TypeError, ValueError, AttributeError, BufferError, OverflowError, RuntimeError, SystemError)
Sides = tuple[ModuleType, ModuleType]
OURS: Final[Sides] = (kafka_core, our_admin)


def callback(*_: object) -> None:
    """Does nothing."""


def partition(core: ModuleType, number: int = 0, offset: int = 1) -> Any:
    return core.TopicPartition("t", number, offset)


Arguments = Callable[[ModuleType, ModuleType], tuple[Any, ...]]
GOOD: Final[dict[str, dict[str, Arguments]]] = {
    "Producer": {
        "produce": lambda core, admin: ("t", b"v", b"k", 0, callback, None, 1, [("a", b"b")]),
        "produce_batch": lambda core, admin: ("t", [{"value": b"x"}], 0, callback),
        "poll": lambda core, admin: (0,),
        "flush": lambda core, admin: (0,),
        "purge": lambda core, admin: (True, True, True),
        "list_topics": lambda core, admin: ("t", SHORT_S),
        "set_sasl_credentials": lambda core, admin: ("a", "b"),
        "init_transactions": lambda core, admin: (SHORT_S,),
        "commit_transaction": lambda core, admin: (SHORT_S,),
        "abort_transaction": lambda core, admin: (SHORT_S,),
        "send_offsets_to_transaction": lambda core, admin: ([partition(core)], None, SHORT_S),
    },
    "Consumer": {
        "poll": lambda core, admin: (0,),
        "consume": lambda core, admin: (1, 0),
        "subscribe": lambda core, admin: (["t"], callback, callback, callback),
        "assign": lambda core, admin: ([partition(core)],),
        "incremental_assign": lambda core, admin: ([partition(core, 1)],),
        "incremental_unassign": lambda core, admin: ([partition(core)],),
        "commit": lambda core, admin: (None, [partition(core)]),
        "committed": lambda core, admin: ([partition(core)], SHORT_S),
        "position": lambda core, admin: ([partition(core)],),
        "store_offsets": lambda core, admin: (None, [partition(core)]),
        "seek": lambda core, admin: (partition(core),),
        "pause": lambda core, admin: ([partition(core)],),
        "resume": lambda core, admin: ([partition(core)],),
        "get_watermark_offsets": lambda core, admin: (partition(core), SHORT_S, False),
        "offsets_for_times": lambda core, admin: ([partition(core)], SHORT_S),
        "list_topics": lambda core, admin: ("t", SHORT_S),
        "set_sasl_credentials": lambda core, admin: ("a", "b"),
    },
    "AdminClient": {
        "create_topics": lambda core, admin: ([admin.NewTopic("t", 1)],),
        "delete_topics": lambda core, admin: (["t"],),
        "create_partitions": lambda core, admin: ([admin.NewPartitions("t", 3)],),
        "describe_configs": lambda core, admin: ([admin.ConfigResource("topic", "t")],),
        "alter_configs": lambda core, admin: ([admin.ConfigResource("topic", "t", set_config={"a": "b"})],),
        "describe_consumer_groups": lambda core, admin: (["g"],),
        "delete_consumer_groups": lambda core, admin: (["g"],),
        "list_consumer_group_offsets": lambda core, admin: ([core.ConsumerGroupTopicPartitions("g")],),
        "alter_consumer_group_offsets": lambda core, admin: (
            [core.ConsumerGroupTopicPartitions("g", [partition(core)])],
        ),
        "describe_topics": lambda core, admin: (core.TopicCollection(["t"]),),
        "list_offsets": lambda core, admin: ({partition(core): admin.OffsetSpec.latest()},),
        "delete_records": lambda core, admin: ([partition(core)],),
        "elect_leaders": lambda core, admin: (core.ElectionType.PREFERRED, [partition(core)]),
        "describe_user_scram_credentials": lambda core, admin: (["u"],),
        "list_topics": lambda core, admin: ("t", SHORT_S),
        "list_groups": lambda core, admin: ("g", SHORT_S),
    },
}
"""Client and method to arguments that are right."""
NAMED: Final[dict[str, tuple[str, ...]]] = {
    "create_topics": ("validate_only", "operation_timeout", "request_timeout"),
    "delete_topics": ("operation_timeout", "request_timeout"),
    "create_partitions": ("validate_only", "operation_timeout", "request_timeout"),
    "describe_configs": ("request_timeout",),
    "alter_configs": ("validate_only", "request_timeout"),
    "describe_consumer_groups": ("include_authorized_operations", "request_timeout"),
    "delete_consumer_groups": ("request_timeout",),
    "list_consumer_group_offsets": ("require_stable", "request_timeout"),
    "describe_topics": ("include_authorized_operations", "request_timeout"),
    "list_offsets": ("isolation_level", "request_timeout"),
    "delete_records": ("operation_timeout", "request_timeout"),
}
"""Arguments of an administrator's methods that are given by name."""
WAITS: Final = (
    r"\[1\]=(int|float|none)$|(flush|poll|consume|transactions?)\[[02]\]=(int|float|none)$|offsets\[1\]=none$"
)
"""Right values with which a call would wait."""
OTHERWISE: Final = {
    r"Producer\.produce\[[45]\]=": "a callback that can't be called is refused here",
    r"Producer\.produce_batch\[3\]=": "a callback that can't be called is refused here",
    r"Producer\.send_offsets_to_transaction\[1\]=bytes": "there bytes are read as packed metadata",
    r"Consumer\.subscribe\[0\]=ints": "there topics are made of numbers",
    r"Consumer\.subscribe\[[123]\]=none": "no callback may be given as None here",
    r"AdminClient\.create_(topics|partitions)\[0\]=(str|ints|bytes|strs)": "there AttributeError, of the first item",
    r"AdminClient\.(delete_topics|(describe|delete)_consumer_groups)\[0\]=ints": "there names are made of numbers",
    r"AdminClient\.\w+\(\w+_timeout=none\)": "None is the default here",
    r"AdminClient\.describe_topics\[0\]=(list|strs)": "a list of names does here",
    r"AdminClient\.elect_leaders\(": "there SystemError",
}
"""Cases, as regular expressions, in which the two differ on purpose: why."""


def cases(client: str, method: str) -> Iterator[tuple[str, int | str | None, Any]]:
    """The name of a case, and which argument (by place or name) is what."""
    count = len(GOOD[client][method](*OURS))
    for place in range(count):
        for kind, value in VALUES.items():
            yield f"{client}.{method}[{place}]={kind}", place, value
    for name in NAMED.get(method, ()) if client == "AdminClient" else ():
        for kind, value in VALUES.items():
            yield f"{client}.{method}({name}={kind})", name, value
    yield f"{client}.{method}(nope=)", "nope", 1


def made(client: str, core: ModuleType, admin: ModuleType) -> Any:
    if client != "Consumer":
        return core.Producer({}) if client == "Producer" else admin.AdminClient({})
    consumer = core.Consumer({"group.id": "g"})
    consumer.assign([partition(core)])
    return consumer


def classes(call: Callable[[], Any]) -> set[object]:
    """The classes of a call's refusal: common classes, or the code of a KafkaException; empty if it is accepted."""
    try:
        call()
    except Exception as error:
        found: set[object] = {kind for kind in CLASSES if isinstance(error, kind)}
        if isinstance(error, kafka_core.KafkaException | confluent.KafkaException):
            found.add(error.args[0].code())
        return found or {type(error)}
    return set()


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize(("client", "method"), [(client, method) for client, found in GOOD.items() for method in found])
def test_wrong_types_are_refused_alike(client: str, method: str) -> None:
    sides = (OURS, (confluent, their_admin))
    clients = [made(client, *side) for side in sides]
    different = {}
    for name, where, value in cases(client, method):
        if re.search(WAITS, name) or any(re.search(pattern, name) for pattern in OTHERWISE):
            continue
        seen = []
        for side, target in zip(sides, clients, strict=True):
            arguments, named = list(GOOD[client][method](*side)), {}
            if isinstance(where, int):
                arguments[where] = value
            else:
                named = {str(where): value}
            seen.append(classes(lambda: getattr(target, method)(*arguments, **named)))  # noqa: B023
        ours, theirs = seen
        if not (ours == theirs or (theirs and theirs <= ours)):
            different[name] = (ours, theirs)
    for target in clients:
        if hasattr(target, "purge"):
            target.purge()
        getattr(target, "close", callback)()
    assert different == {}
