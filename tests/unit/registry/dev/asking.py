"""Asks an embedded registry without HTTP."""

from __future__ import annotations

import json
from typing import Any

from registry.dev import EmbeddedRegistry


def record(**fields: Any) -> dict[str, Any]:
    """A request with an Avro record; a field is a type, or an object with its default."""
    made = [{"name": name, **(spec if isinstance(spec, dict) else {"type": spec})} for name, spec in fields.items()]
    return {"schema": json.dumps({"type": "record", "name": "R", "fields": made})}


ONE = record(a="int")
TWO = record(a="int", b={"type": "int", "default": 0})
OTHER = record(a="string")


class Asking:
    """Requests and their JSON answers."""

    def __init__(self, registry: EmbeddedRegistry | None = None) -> None:
        self.registry = registry or EmbeddedRegistry()

    def ask(self, method: str, target: str, body: Any = None) -> tuple[int, Any]:
        """Status and JSON of an answer."""
        sent = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        answer = self.registry.respond(method, target, sent)
        return answer.status, json.loads(answer.body) if answer.body else None

    def _well(self, method: str, target: str, body: Any = None) -> Any:
        status, value = self.ask(method, target, body)
        assert status < 300, (status, value)
        return value

    def get(self, target: str) -> Any:
        return self._well("GET", target)

    def post(self, target: str, body: Any) -> Any:
        return self._well("POST", target, body)

    def put(self, target: str, body: Any) -> Any:
        return self._well("PUT", target, body)

    def delete(self, target: str) -> Any:
        return self._well("DELETE", target)

    def register(self, subject: str, body: Any, **more: Any) -> int:
        """Registers; returns the id."""
        schema_id: int = self.post(f"/subjects/{subject}/versions", {**body, **more})["id"]
        return schema_id

    def refused(self, method: str, target: str, body: Any = None) -> int:
        """The error code of a refusal."""
        status, value = self.ask(method, target, body)
        assert status >= 400, (status, value)
        assert value["message"]
        code: int = value["error_code"]
        return code
