"""Exchanges with a registry of Confluent's API: requests on an empty subject, the status, the code, the content.

Expectations are Confluent's. In paths and bodies `$S` is a subject nobody else uses, `$ID` an id from the last answer.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["CASES", "Ask", "Case", "schema"]


@dataclass(frozen=True, slots=True)
class Ask:
    """A request; `body` is sent as JSON, bytes as they are."""

    method: str
    path: str
    body: Any = None


@dataclass(frozen=True, slots=True)
class Case:
    """Requests that prepare, one that is judged, and the answer.

    Attributes:
        code: the `error_code`, None where there is no error.
        holds: a part of the answer: objects may have more keys, lists must be equal; None for anything.
    """

    name: str
    ask: Ask
    given: Sequence[Ask] = ()
    status: int = 200
    code: int | None = None
    holds: Any = None

    def __str__(self) -> str:
        return self.name.replace(" ", "-")


def schema(**fields: Any) -> dict[str, Any]:
    """A request with an Avro record; a field is a type, or an object with its default."""
    made = [{"name": name, **(spec if isinstance(spec, dict) else {"type": spec})} for name, spec in fields.items()]
    return {"schema": json.dumps({"type": "record", "name": "R", "namespace": "t", "fields": made})}


def get(path: str) -> Ask:
    return Ask("GET", path)


def post(path: str, body: Any) -> Ask:
    return Ask("POST", path, body)


def put(path: str, body: Any) -> Ask:
    return Ask("PUT", path, body)


def delete(path: str) -> Ask:
    return Ask("DELETE", path)


ONE = schema(a="int")
TWO = schema(a="int", b={"type": "int", "default": 0})
OTHER = schema(a="string")
JSON_ONE = {"schemaType": "JSON", "schema": '{"type":"object","properties":{"a":{"type":"integer"}}}'}
PROTO_ONE = {"schemaType": "PROTOBUF", "schema": 'syntax = "proto3";\npackage t;\n\nmessage M {\n  int32 a = 1;\n}\n'}
JSON_BAD = {"schemaType": "JSON", "schema": '{"type":"object","properties":{"a":{"type":"string"}}}'}
PROTO_BAD = {"schemaType": "PROTOBUF", "schema": 'syntax = "proto3";\npackage t;\n\nmessage M {\n  string a = 1;\n}\n'}
USED = {"schema": '{"type":"record","name":"t.Used","fields":[{"name":"v","type":"int"}]}'}
USING = {
    "schema": '{"type":"record","name":"t.Using","fields":[{"name":"u","type":"t.Used"}]}',
    "references": [{"name": "t.Used", "subject": "$S-used", "version": 1}],
}
V = "/subjects/$S/versions"
ONE_THERE = [post(V, ONE)]
TWO_THERE = [post(V, ONE), post(V, TWO)]
FIRST_GONE = [*TWO_THERE, delete(f"{V}/1")]
ALL_GONE = [*ONE_THERE, delete("/subjects/$S")]
USED_THERE = [post("/subjects/$S-used/versions", USED), post(V, USING)]

NOTHING_THERE = [
    Case("types", get("/schemas/types")),
    Case("root", get("/"), holds={}),
    Case("contexts", get("/contexts"), holds=["."]),
    Case("global config", get("/config"), holds={"compatibilityLevel": "BACKWARD"}),
    Case("global mode", get("/mode"), holds={"mode": "READWRITE"}),
    Case("cluster id", get("/v1/metadata/id"), holds={"id": ""}),
    Case("server version", get("/v1/metadata/version")),
    Case("versions of no subject", get(V), status=404, code=40401),
    Case("version of no subject", get(f"{V}/1"), status=404, code=40401),
    Case("latest of no subject", get(f"{V}/latest"), status=404, code=40401),
    Case("look-up in no subject", post("/subjects/$S", ONE), status=404, code=40401),
    Case("delete no subject", delete("/subjects/$S"), status=404, code=40401),
    Case("delete a version of no subject", delete(f"{V}/1"), status=404, code=40401),
    Case("config of no subject", get("/config/$S"), status=404, code=40408),
    Case(
        "config of no subject, default",
        get("/config/$S?defaultToGlobal=true"),
        holds={"compatibilityLevel": "BACKWARD"},
    ),
    Case("delete config of no subject", delete("/config/$S"), status=404, code=40401),
    Case("mode of no subject", get("/mode/$S"), status=404, code=40409),
    Case("mode of no subject, default", get("/mode/$S?defaultToGlobal=true"), holds={"mode": "READWRITE"}),
    Case("delete mode of no subject", delete("/mode/$S"), status=404, code=40401),
    Case("no schema", get("/schemas/ids/2000000000"), status=404, code=40403),
    Case("text of no schema", get("/schemas/ids/2000000000/schema"), status=404, code=40403),
    Case("subjects of no schema", get("/schemas/ids/2000000000/subjects"), status=404, code=40403),
    Case("versions of no schema", get("/schemas/ids/2000000000/versions"), status=404, code=40403),
    Case("id that is no number", get("/schemas/ids/abc"), status=404, code=404),
    Case("no GUID", get("/schemas/guids/00000000-0000-4000-8000-000000000000"), status=404, code=40403),
    Case("no route", get("/nowhere"), status=404, code=404),
    Case("no such method", Ask("PATCH", "/subjects"), status=405, code=405),
    Case(
        "test against latest of no subject",
        post("/compatibility/subjects/$S/versions/latest", ONE),
        holds={"is_compatible": True},
    ),
    Case(
        "test against a version of no subject",
        post("/compatibility/subjects/$S/versions/1", ONE),
        status=404,
        code=40402,
    ),
    Case(
        "test against all of no subject",
        post("/compatibility/subjects/$S/versions", ONE),
        holds={"is_compatible": True},
    ),
    Case("metadata of no subject", get("/subjects/$S/metadata?key=a&value=b"), status=404, code=40401),
]

REGISTERING = [
    Case("register", post(V, ONE), holds={"id": int}),
    Case("register again", post(V, ONE), ONE_THERE, holds={"id": "$ID"}),
    Case("register elsewhere", post("/subjects/$S-2/versions", ONE), ONE_THERE, holds={"id": "$ID"}),
    Case("register JSON Schema", post(V, JSON_ONE), holds={"id": int}),
    Case("register Protobuf", post(V, PROTO_ONE), holds={"id": int}),
    Case("register JSON Schema again", post(V, JSON_ONE), [post(V, JSON_ONE)], holds={"id": "$ID"}),
    Case("register Protobuf again", post(V, PROTO_ONE), [post(V, PROTO_ONE)], holds={"id": "$ID"}),
    Case("register Protobuf that is incompatible", post(V, PROTO_BAD), [post(V, PROTO_ONE)], 409, 409),
    Case("register JSON Schema that is incompatible", post(V, JSON_BAD), [post(V, JSON_ONE)], 409, 409),
    Case("register what is incompatible", post(V, OTHER), ONE_THERE, 409, 409),
    Case("register nonsense", post(V, {"schema": '{"type":"nonsense"}'}), status=422, code=42201),
    Case("register an unknown type", post(V, {"schema": '"int"', "schemaType": "XML"}), status=422, code=42201),
    Case("register nothing", post(V, {}), status=422, code=42201),
    Case("register an empty text", post(V, {"schema": ""}), status=422, code=42201),
    Case("register without a body", post(V, b""), status=422, code=422),
    Case("register broken JSON", post(V, b"{nope"), status=400, code=400),
    Case("register a list", post(V, b"[]"), status=400, code=400),
    Case("register a number as schema", post(V, {"schema": 5}), status=400, code=400),
    Case("register with an id", post(V, {**ONE, "id": 1_000_000}), status=422, code=42205),
    Case("register with a version too far", post(V, {**TWO, "version": 9}), ONE_THERE, 422, 42201),
    Case("register with the next version", post(V, {**TWO, "version": 2}), ONE_THERE, holds={"id": int}),
    Case(
        "missing reference",
        post(V, {**USING, "references": [{"name": "t.Used", "subject": "$S-no", "version": 1}]}),
        status=422,
        code=42201,
    ),
    Case("look up", post("/subjects/$S", ONE), TWO_THERE, holds={"subject": "$S", "version": 1, "id": int}),
    Case("look up what is not there", post("/subjects/$S", OTHER), ONE_THERE, 404, 40403),
    Case("look up what is deleted", post("/subjects/$S", ONE), FIRST_GONE, 404, 40403),
    Case("look up what is deleted, deleted", post("/subjects/$S?deleted=true", ONE), FIRST_GONE, holds={"version": 1}),
    Case("look up in a deleted subject", post("/subjects/$S", ONE), ALL_GONE, 404, 40401),
    Case("look up nonsense", post("/subjects/$S", {"schema": "{"}), ONE_THERE, 422, 42201),
]

READING = [
    Case("versions", get(V), TWO_THERE, holds=[1, 2]),
    Case("one version", get(f"{V}/1"), ONE_THERE, holds={"subject": "$S", "version": 1, "id": int, "schema": str}),
    Case("latest", get(f"{V}/latest"), TWO_THERE, holds={"version": 2}),
    Case("minus one is latest", get(f"{V}/-1"), TWO_THERE, holds={"version": 2}),
    Case("latest in capitals", get(f"{V}/LATEST"), TWO_THERE, holds={"version": 2}),
    Case("version not there", get(f"{V}/99"), ONE_THERE, 404, 40402),
    Case("version zero", get(f"{V}/0"), ONE_THERE, 422, 42202),
    Case("version that is no number", get(f"{V}/abc"), ONE_THERE, 422, 42202),
    Case("text of a version", get(f"{V}/1/schema"), ONE_THERE, holds={"type": "record"}),
    Case("referenced by none", get(f"{V}/1/referencedby"), ONE_THERE, holds=[]),
    Case("referenced by no version", get(f"{V}/9/referencedby"), ONE_THERE, 404, 40402),
    Case("referenced by one", get("/subjects/$S-used/versions/1/referencedby"), USED_THERE, holds=["$ID"]),
    Case("schema by id", get("/schemas/ids/$ID"), ONE_THERE, holds={"schema": str}),
    Case("schema by id, highest", get("/schemas/ids/$ID?fetchMaxId=true"), ONE_THERE, holds={"maxId": int}),
    Case("references by id", get("/schemas/ids/$ID"), USED_THERE, holds={"references": USING["references"]}),
    Case("text by id", get("/schemas/ids/$ID/schema"), ONE_THERE, holds={"type": "record"}),
    Case("versions by id", get("/schemas/ids/$ID/versions"), ONE_THERE, holds=list),
    Case("prefix of subjects", get("/subjects?subjectPrefix=$S"), ONE_THERE, holds=["$S"]),
    Case("prefix of subjects, deleted", get("/subjects?subjectPrefix=$S&deleted=true"), ALL_GONE, holds=["$S"]),
    Case("prefix of subjects, not deleted", get("/subjects?subjectPrefix=$S"), ALL_GONE, holds=[]),
    Case(
        "prefix of subjects, deleted only", get("/subjects?subjectPrefix=$S&deletedOnly=true"), ALL_GONE, holds=["$S"]
    ),
    Case("schemas with a prefix", get("/schemas?subjectPrefix=$S&latestOnly=true"), TWO_THERE),
    Case(
        "latest with metadata",
        get("/subjects/$S/metadata?key=k&value=v"),
        [post(V, {**ONE, "metadata": {"properties": {"k": "v"}}})],
        holds={"version": 1},
    ),
]

DELETING = [
    Case("delete a version", delete(f"{V}/1"), TWO_THERE, holds=1),
    Case("delete the latest", delete(f"{V}/latest"), TWO_THERE, holds=2),
    Case("delete a version again", delete(f"{V}/1"), FIRST_GONE, 404, 40406),
    Case("delete for good what is live", delete(f"{V}/1?permanent=true"), ONE_THERE, 404, 40407),
    Case("delete for good", delete(f"{V}/1?permanent=true"), FIRST_GONE, holds=1),
    Case(
        "delete for good again",
        delete(f"{V}/1?permanent=true"),
        [*FIRST_GONE, delete(f"{V}/1?permanent=true")],
        404,
        40402,
    ),
    Case("delete no version", delete(f"{V}/9"), ONE_THERE, 404, 40402),
    Case("delete a version that is no number", delete(f"{V}/x"), ONE_THERE, 422, 42202),
    Case("deleted version is hidden", get(f"{V}/1"), FIRST_GONE, 404, 40402),
    Case("deleted version is shown", get(f"{V}/1?deleted=true"), FIRST_GONE, holds={"version": 1}),
    Case("versions without the deleted", get(V), FIRST_GONE, holds=[2]),
    Case("versions with the deleted", get(f"{V}?deleted=true"), FIRST_GONE, holds=[1, 2]),
    Case("only deleted versions", get(f"{V}?deletedOnly=true"), FIRST_GONE, holds=[1]),
    Case("deleted versions as negative", get(f"{V}?deletedAsNegative=true"), FIRST_GONE, holds=[-1, 2]),
    Case(
        "a number is not used again",
        post(V, schema(a="int", c={"type": "int", "default": 1})),
        [*TWO_THERE, delete(f"{V}/2")],
    ),
    Case("delete a subject", delete("/subjects/$S"), TWO_THERE, holds=[1, 2]),
    Case("delete a subject again", delete("/subjects/$S"), ALL_GONE, 404, 40404),
    Case("delete a live subject for good", delete("/subjects/$S?permanent=true"), ONE_THERE, 404, 40405),
    Case("delete a subject for good", delete("/subjects/$S?permanent=true"), ALL_GONE, holds=[1]),
    Case("subject is gone", get(V), ALL_GONE, 404, 40401),
    Case(
        "subject is gone for good",
        get(f"{V}?deleted=true"),
        [*ALL_GONE, delete("/subjects/$S?permanent=true")],
        404,
        40401,
    ),
    Case("what is used can't be deleted", delete("/subjects/$S-used/versions/1"), USED_THERE, 422, 42206),
    Case("subject that is used can't be deleted", delete("/subjects/$S-used"), USED_THERE, 422, 42206),
    Case("what was used can be deleted", delete("/subjects/$S-used"), [*USED_THERE, delete("/subjects/$S")], holds=[1]),
    Case("latest of a deleted subject", get(f"{V}/latest?deleted=true"), ALL_GONE, 404, 40402),
]

TESTING = [
    Case(
        "test what fits",
        post("/compatibility/subjects/$S/versions/latest", TWO),
        ONE_THERE,
        holds={"is_compatible": True},
    ),
    Case(
        "test what does not fit",
        post("/compatibility/subjects/$S/versions/latest", OTHER),
        ONE_THERE,
        holds={"is_compatible": False},
    ),
    Case(
        "test and say why",
        post("/compatibility/subjects/$S/versions/1?verbose=true", OTHER),
        ONE_THERE,
        holds={"is_compatible": False, "messages": list},
    ),
    Case(
        "test against all", post("/compatibility/subjects/$S/versions", TWO), ONE_THERE, holds={"is_compatible": True}
    ),
    Case("test against no version", post("/compatibility/subjects/$S/versions/9", ONE), ONE_THERE, 404, 40402),
    Case("test against nonsense", post("/compatibility/subjects/$S/versions/x", ONE), ONE_THERE, 422, 42202),
    Case("test nonsense", post("/compatibility/subjects/$S/versions/latest", {"schema": "{"}), ONE_THERE, 422, 42201),
]

SETTINGS = [
    Case("set a level", put("/config/$S", {"compatibility": "FULL"}), ONE_THERE, holds={"compatibility": "FULL"}),
    Case(
        "set a level in small letters",
        put("/config/$S", {"compatibility": "full"}),
        ONE_THERE,
        holds={"compatibility": "FULL"},
    ),
    Case(
        "set a level before there is a schema",
        put("/config/$S", {"compatibility": "FULL"}),
        holds={"compatibility": "FULL"},
    ),
    Case("set an unknown level", put("/config/$S", {"compatibility": "SIDEWAYS"}), ONE_THERE, 422, 42203),
    Case("set a number as level", put("/config/$S", {"compatibility": 5}), ONE_THERE, 400, 400),
    Case(
        "read a level",
        get("/config/$S"),
        [*ONE_THERE, put("/config/$S", {"compatibility": "FULL"})],
        holds={"compatibilityLevel": "FULL"},
    ),
    Case("level of a subject without", get("/config/$S"), ONE_THERE, 404, 40408),
    Case(
        "delete a level",
        delete("/config/$S"),
        [*ONE_THERE, put("/config/$S", {"compatibility": "FULL"})],
        holds={"compatibilityLevel": "FULL"},
    ),
    Case(
        "level none lets everything in",
        post(V, OTHER),
        [*ONE_THERE, put("/config/$S", {"compatibility": "NONE"})],
        holds={"id": int},
    ),
    Case("set a mode", put("/mode/$S", {"mode": "READONLY"}), ONE_THERE, holds={"mode": "READONLY"}),
    Case(
        "read a mode", get("/mode/$S"), [*ONE_THERE, put("/mode/$S", {"mode": "READONLY"})], holds={"mode": "READONLY"}
    ),
    Case("set an unknown mode", put("/mode/$S", {"mode": "SIDEWAYS"}), ONE_THERE, 422, 42204),
    Case("read-only", post(V, TWO), [*ONE_THERE, put("/mode/$S", {"mode": "READONLY"})], 422, 42205),
    Case(
        "import with an id",
        post(V, {**ONE, "id": 777_001, "version": 5}),
        [put("/mode/$S", {"mode": "IMPORT"})],
        holds={"id": 777_001},
    ),
]

CASES = [*NOTHING_THERE, *REGISTERING, *READING, *DELETING, *TESTING, *SETTINGS]
