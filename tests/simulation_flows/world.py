"""The world of one run: virtual time, a registry that keeps its history, a network that fails, what callers do.

Must not know of asyncio or threads: an exchange is a generator of pauses, which a shell waits through.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from registry.client.steps import Reply, Send, Unreachable

SUBJECTS = ("a-value", "b-value")
TEXTS = tuple(
    json.dumps({"type": "record", "name": "R", "fields": [{"name": f"f{number}", "type": "int", "default": 0}]})
    for number in range(6)
)
TIMEOUT_S = 2.0
RETRIES = 2
URLS = ("http://one", "http://two")
JUNK_IDS = (901, 902)
LATE_IDS = (1, 2, 3, 4, 5, 6)


@dataclass
class Op:
    """A caller's operation, and its result.

    Attributes:
        kind: a method of the client, or `write …`/`read …` of a serializer.
        began: number of the event with which it began; `ended` with which it ended, None while it runs.
    """

    caller: str
    kind: str
    args: tuple[Any, ...]
    began: int = 0
    began_s: float = 0.0
    ended: int | None = None
    ended_s: float = 0.0
    result: Any = None
    error: BaseException | None = None
    told_to_stop: bool = False
    sends: list[Sent] = field(default_factory=list)


@dataclass
class Sent:
    """One request on its way. `applied` is the event at which the registry saw it, None for never."""

    op: Op | None
    method: str
    what: str
    began: int
    began_s: float
    applied: int | None = None
    ended: int | None = None
    ended_s: float = 0.0
    outcome: str = ""


@dataclass
class Version:
    number: int
    schema_id: int
    deleted: bool = False


class Violation(AssertionError):
    """A broken promise; the text has the seed and the trace."""


class Registry:
    """A registry without rules of compatibility. Every state it ever was in is remembered."""

    def __init__(self, world: World) -> None:
        self._world = world
        self.ids: dict[str, int] = {}
        self.versions: dict[str, list[Version]] = {}
        self.latest: dict[str, list[tuple[int, float, int | None]]] = {name: [(0, 0.0, None)] for name in SUBJECTS}
        """Subject → (event, time, schema id of the newest version) at every change."""
        self.registered: dict[tuple[str, int], list[tuple[int, bool]]] = {}
        """(subject, id) → (event, whether it is registered)."""
        self.known_since: dict[int, int] = {}
        """Id → event of its first registration."""

    def text(self, schema_id: int) -> str:
        return next((text for text, known in self.ids.items() if known == schema_id), "none")

    def register(self, subject: str, text: str) -> int:
        if text not in self.ids:
            self.ids[text] = len(self.ids) + 1
            self.known_since[self.ids[text]] = self._world.tick()
        schema_id, versions = self.ids[text], self.versions.setdefault(subject, [])
        if not any(version.schema_id == schema_id and not version.deleted for version in versions):
            versions.append(Version(len(versions) + 1, schema_id))
            self._changed(subject)
        return schema_id

    def delete(self, subject: str, number: int | None) -> list[int]:
        gone = [v for v in self.versions.get(subject, []) if not v.deleted and number in (None, v.number)]
        for version in gone:
            version.deleted = True
        if gone:
            self._changed(subject)
        return [version.number for version in gone]

    def alive(self, subject: str) -> list[Version]:
        return [version for version in self.versions.get(subject, []) if not version.deleted]

    def _changed(self, subject: str) -> None:
        event = self._world.tick()
        alive = self.alive(subject)
        newest = alive[-1].schema_id if alive else None
        self.latest[subject].append((event, self._world.now_s, newest))
        ids = {version.schema_id for version in alive}
        for schema_id in self.ids.values():
            states = self.registered.setdefault((subject, schema_id), [(0, False)])
            if states[-1][1] != (schema_id in ids):
                states.append((event, schema_id in ids))
        self._world.note("registry", f"{subject}: newest is {newest}, registered {sorted(ids)}")

    def answer(self, method: str, path: str, body: Any) -> tuple[int, Any]:
        """The registry's answer, as a real one's."""
        if found := re.fullmatch(r"/schemas/ids/(\d+)", path):
            schema_id = int(found[1])
            if schema_id not in self.ids.values():
                return 404, {"error_code": 40403, "message": f"Schema {schema_id} not found"}
            return 200, {"schema": self.text(schema_id)}
        found = re.fullmatch(r"/subjects/([^/]+)(?:/versions(?:/(\w+))?)?", path)
        assert found is not None, path
        subject, alive = found[1], self.alive(found[1])
        if method == "POST" and path.endswith("/versions"):
            schema_id = self.register(subject, body["schema"])
            return 200, {"id": schema_id}
        if not alive:
            return 404, {"error_code": 40401, "message": f"Subject '{subject}' not found."}
        if method == "POST":
            version = next((v for v in alive if v.schema_id == self.ids.get(body["schema"])), None)
            missing = {"error_code": 40403, "message": "Schema not found"}
            return (404, missing) if version is None else (200, self._shown(subject, version))
        if method == "DELETE" and found[2] is None:
            return 200, self.delete(subject, None)
        version = alive[-1] if found[2] == "latest" else next((v for v in alive if str(v.number) == found[2]), None)
        if version is None:
            return 404, {"error_code": 40402, "message": "Version not found."}
        if method == "DELETE":
            return 200, self.delete(subject, version.number)[0]
        return 200, self._shown(subject, version)

    def _shown(self, subject: str, version: Version) -> dict[str, Any]:
        text = self.text(version.schema_id)
        return {"subject": subject, "version": version.number, "id": version.schema_id, "schema": text}


class World:
    """One run; everything random comes from its seed."""

    def __init__(self, seed: int, shell: str) -> None:
        self.seed = seed
        self.shell = shell
        self.rng = random.Random(seed)
        self.now_s = 1000.0
        self.event = 0
        self.trace: list[str] = []
        self.ops: list[Op] = []
        self.sent: list[Sent] = []
        self.registry = Registry(self)
        self.ttl_s: float | None = self.rng.choice([None, None, 3.0])
        self.missing_ttl_s = self.rng.choice([4.0, 4.0, 0.0])
        narrow = self.rng.random() < 0.5  # callers meet more often
        self.subjects = SUBJECTS[:1] if narrow else SUBJECTS
        self.texts = TEXTS[:3] if narrow else TEXTS
        self.weather = self.rng.choice([0.0, 0.0, 0.15, 0.4])
        self.down_until_s = dict.fromkeys(URLS, 0.0)
        if self.rng.random() < 0.8:
            for subject in SUBJECTS:
                self.registry.register(subject, TEXTS[0])

    @property
    def conf(self) -> dict[str, Any]:
        conf: dict[str, Any] = {
            "url": ",".join(URLS),
            "timeout": TIMEOUT_S,
            "max.retries": RETRIES,
            "retries.wait.ms": 200,
            "retries.max.wait.ms": 500,
            "missing.id.cache.ttl.sec": self.missing_ttl_s,
        }
        return conf if self.ttl_s is None else {**conf, "cache.latest.ttl.sec": self.ttl_s}

    def tick(self) -> int:
        self.event += 1
        return self.event

    def note(self, who: str, text: str) -> None:
        self.trace.append(f"{self.now_s - 1000:9.3f} {self.event:5d} {who:10s} {text}")

    def fail(self, what: str) -> None:
        """Raises a violation with all that led to it."""
        again = f"python -m tests.simulation_flows --shell {self.shell} --seed {self.seed}"
        raise Violation("\n".join([f"seed {self.seed}: {what}", f"again: {again}", *self.trace[-200:]]))

    # --- what callers do

    def scripts(self) -> dict[str, list[tuple[float, str, tuple[Any, ...]]]]:
        """Caller → its operations: (pause before it, kind, arguments)."""
        names = [f"caller {number}" for number in range(self.rng.randint(2, 5))]
        if self.rng.random() < 0.3:  # a stampede: all want the same
            return dict.fromkeys(names, self._script())
        return {name: self._script() for name in names}

    def _script(self) -> list[tuple[float, str, tuple[Any, ...]]]:
        return [(self.pause(), *self._operation()) for _ in range(self.rng.randint(3, 9))]

    def pause(self) -> float:
        """Often none, so that callers meet; now and then longer than caches live."""
        return self.rng.choice([0.0, 0.0, 0.0, 0.01, 0.05, 0.3, 1.5, 2.0, 5.0])

    def _operation(self) -> tuple[str, tuple[Any, ...]]:
        rng, subject, text = self.rng, self.rng.choice(self.subjects), self.rng.choice(self.texts)
        kinds: list[tuple[int, str, tuple[Any, ...]]] = [
            (6, "get_schema", (rng.choice((*LATE_IDS, *JUNK_IDS)),)),
            (5, "get_latest_version", (subject,)),
            (2, "get_version", (subject, rng.randint(1, 2))),
            (2, "lookup_schema", (subject, text)),
            (3, "register_schema", (subject, text)),
            (1, "delete_subject", (subject,)),
            (1, "delete_version", (subject, rng.randint(1, 2))),
            (1, "clear_caches", ()),
            (1, "clear_latest_caches", ()),
            (4, "write latest", (subject,)),
            (3, "write registering", (subject,)),
            (3, "read", (subject, rng.choice((*LATE_IDS, *JUNK_IDS)))),
            (3, "read latest", (subject, rng.choice(LATE_IDS[:3]))),
            (2, "outside registers", (subject, text)),
            (1, "outside deletes", (subject,)),
        ]
        _, kind, args = rng.choices(kinds, [kind[0] for kind in kinds])[0]
        return kind, args

    def begin(self, caller: str, kind: str, args: tuple[Any, ...]) -> Op:
        op = Op(caller, kind, args, self.tick(), self.now_s)
        self.ops.append(op)
        self.note(caller, f"{kind} {_short(args)}")
        return op

    def end(self, op: Op, result: Any = None, error: BaseException | None = None) -> None:
        op.ended, op.ended_s, op.result, op.error = self.tick(), self.now_s, result, error
        self.note(op.caller, f"{op.kind} {_short(op.args)} → {_short(result) if error is None else repr(error)[:90]}")

    # --- the network

    def exchange(self, op: Op | None, step: Send) -> Iterator[float | Reply | Unreachable]:
        """Pauses, and in the end what the client sees."""
        rng, url = self.rng, next(url for url in URLS if step.url.startswith(url))
        path = step.url.removeprefix(url)
        what = f"{step.method} {path} {(step.content or b'').decode()}{dict(step.query) or ''}"
        sent = Sent(op, step.method, what, self.tick(), self.now_s)
        self.sent.append(sent)
        if op is not None:
            op.sends.append(sent)
        self.note(op.caller if op else "?", f"    {step.method} {url}{path}")
        if rng.random() < self.weather / 8:
            self.down_until_s[url] = self.now_s + rng.choice([0.2, 1.0, 4.0])
        outcome: Reply | Unreachable
        if self.now_s < self.down_until_s[url]:
            yield 0.001
            outcome = Unreachable("refused", sent=False)
        else:
            outcome = yield from self._carried(sent, step.method, path, step.content)
        sent.ended, sent.ended_s = self.tick(), self.now_s
        sent.outcome = f"{outcome.status}" if isinstance(outcome, Reply) else outcome.reason
        self.note(op.caller if op else "?", f"    {step.method} {url}{path} → {sent.outcome}")
        yield outcome

    def _carried(self, sent: Sent, method: str, path: str, content: bytes | None) -> Any:
        rng = self.rng
        fault = rng.choice(("lost", "lost answer", "500", "503", "page", "401", "half")) if self._bad() else None
        yield rng.choice([0.0, 0.001, 0.01, 0.1])
        if fault in ("lost", "503", "page", "401"):
            if fault == "lost":
                yield TIMEOUT_S
                return Unreachable("timed out", sent=True)
            return Reply({"503": 503, "page": 404, "401": 401}[fault], b"<html>no registry here</html>")
        sent.applied = self.tick()
        status, answer = self.registry.answer(method, path, json.loads(content) if content else None)
        yield rng.choice([0.0, 0.001, 0.01, 0.1])
        if fault == "lost answer":
            yield rng.choice([0.0, TIMEOUT_S])
            return Unreachable("connection lost", sent=True)
        if fault == "500":
            return Reply(500, json.dumps({"error_code": 50002, "message": "timed out"}).encode())
        if fault == "half":
            return Reply(200, json.dumps(answer).encode()[:-2])
        return Reply(status, json.dumps(answer).encode())

    def _bad(self) -> bool:
        return self.rng.random() < self.weather


def _short(value: Any) -> str:
    for number, text in enumerate(TEXTS):
        value = value.replace(text, f"text {number}") if isinstance(value, str) else value
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_short, value)) + ")"
    return str(value) if isinstance(value, str) else repr(value)[:100]
