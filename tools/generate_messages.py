"""Writes kafka_core/protocol/messages/ from the message definitions inside a released kafka-clients jar.

Carries over facts only (names, types, version ranges, tags, defaults); no comment or description of the definitions.
Spec: common/message/*.json and common/message/README.md in org.apache.kafka:kafka-clients.
"""

import argparse
import json
import os
import re
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "kafka_core" / "protocol" / "messages"
CACHE = Path(os.environ.get("KSERDES_CACHE", Path.home() / ".cache" / "kserdes"))  # as tools/real_kafka.py has it
DEFAULT_JAR = CACHE / "kafka-4.3.1" / "kafka-clients-4.3.1.jar"

Definition = dict[str, Any]
OPEN = 32767
PYTHON_TYPES = {
    "bool": "bool",
    "bytes": "bytes",
    "float64": "float",
    "records": "Records",
    "string": "str",
    "uuid": "UUID",
    **dict.fromkeys(("int8", "int16", "uint16", "int32", "uint32", "int64"), "int"),
}
ZERO_DEFAULTS = {
    "bool": "False",
    "bytes": 'b""',
    "float64": "0.0",
    "records": "None",
    "string": '""',
    "uuid": "ZERO_UUID",
}
KNOWN_FIELD_KEYS = {
    *("name", "type", "versions", "about", "fields", "default", "entityType", "nullableVersions", "ignorable"),
    *("mapKey", "tag", "taggedVersions", "zeroCopy", "flexibleVersions"),
}
KNOWN_MESSAGE_KEYS = {
    *("apiKey", "type", "listeners", "name", "validVersions", "flexibleVersions", "fields", "commonStructs"),
    "latestVersionUnstable",
}
BETWEEN_BROKERS = {
    *("InitializeShareGroupState", "ReadShareGroupState", "ReadShareGroupStateSummary"),
    *("WriteShareGroupState", "DeleteShareGroupState"),
}
"""Requests that brokers take, but only from each other. WriteTxnMarkers ends hanging transactions, too (KIP-664)."""
NOT_ON_A_CLIENTS_CONNECTION = {
    *("DefaultPrincipalData", "KRaftVersionRecord", "LeaderChangeMessage", "SnapshotFooterRecord"),
    *("SnapshotHeaderRecord", "VotersRecord"),  # records of controllers' own log
    *("ControlRecordTypeSchema", "EndTxnMarker"),  # four and six bytes: records/control.py packs them
}
FAMILIES = {
    "acls": ("CreateAcls", "DeleteAcls", "DescribeAcls"),
    "client_quotas": ("AlterClientQuotas", "DescribeClientQuotas"),
    "delegation_tokens": (
        *("CreateDelegationToken", "DescribeDelegationToken", "ExpireDelegationToken", "RenewDelegationToken"),
    ),
    "log_dirs": ("AlterReplicaLogDirs", "DescribeLogDirs"),
    "partition_reassignments": ("AlterPartitionReassignments", "ListPartitionReassignments"),
    "raft_voters": ("AddRaftVoter", "RemoveRaftVoter"),
    "share_group_offsets": ("AlterShareGroupOffsets", "DeleteShareGroupOffsets", "DescribeShareGroupOffsets"),
    "streams_groups": ("StreamsGroupDescribe", "StreamsGroupHeartbeat"),
    "telemetry": ("GetTelemetrySubscriptions", "PushTelemetry"),
    "transactions": ("DescribeTransactions", "ListTransactions"),
    "user_scram_credentials": ("AlterUserScramCredentials", "DescribeUserScramCredentials"),
}
"""Modules that hold the messages of several APIs, all about one thing and rarely used; other APIs have one each."""
IRREGULAR_WORDS = {"KRaft": "Kraft", "2Pc": "_2pc"}


class DefinitionError(Exception):
    """A definition uses something this tool does not know; extend the tool (and the codec) first."""


@dataclass
class StructFacts:
    """One generated class: its final name, its JSON fields and the names of the classes its fields refer to."""

    class_name: str
    json_name: str
    fields: list[Definition]
    message: Definition | None = None
    references: dict[str, str] = field(default_factory=dict)


def snake_case(name: str) -> str:
    """`CurrentLeaderEpoch` -> `current_leader_epoch`."""
    for irregular, regular in IRREGULAR_WORDS.items():
        name = name.replace(irregular, regular)
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()


def parse_versions(text: str | None) -> tuple[int, int] | None:
    """`"3+"`, `"2-7"`, `"4"` -> inclusive range; `"none"` or absent -> None."""
    if text is None or text == "none":
        return None
    match = re.fullmatch(r"(\d+)(?:(\+)|-(\d+))?", text)
    if match is None:
        raise DefinitionError(f"version range {text!r} is not understood")
    first = int(match[1])
    return first, OPEN if match[2] else int(match[3] or first)


def read_definitions(jar: Path) -> tuple[str, list[Definition]]:
    """All definitions in the jar, sorted by file name, and the release they come from."""
    definitions = []
    with zipfile.ZipFile(jar) as archive:
        properties = archive.read("kafka/kafka-version.properties").decode()
        release = re.search(r"^version=(.+)$", properties, re.MULTILINE)
        for name in sorted(archive.namelist()):
            if re.fullmatch(r"common/message/\w+\.json", name):
                text = re.sub(r"^\s*//.*$", "", archive.read(name).decode(), flags=re.MULTILINE)
                definitions.append(json.loads(text))
    if not definitions or release is None:
        raise DefinitionError(f"{jar} holds no message definitions")
    return release[1].strip(), definitions


def api_name(definition: Definition) -> str:
    """`FetchRequest` -> `Fetch`; data messages and headers keep their name."""
    if definition["type"] in ("request", "response"):
        return str(definition["name"]).removesuffix("Request").removesuffix("Response")
    return str(definition["name"])


def module_of(api: str) -> str:
    """The module that holds an API's messages."""
    return next((family for family, members in FAMILIES.items() if api in members), snake_case(api))


def group_by_module(definitions: list[Definition]) -> dict[str, list[Definition]]:
    """Module name -> its messages, responses first (a request class refers to its response class)."""
    modules: dict[str, list[Definition]] = {}
    wanted = client_apis(definitions)
    for definition in definitions:
        unknown = definition.keys() - KNOWN_MESSAGE_KEYS
        if unknown:
            raise DefinitionError(f"{definition['name']}: unknown keys {sorted(unknown)}")
        if definition["validVersions"] != "none" and api_name(definition) in wanted:
            modules.setdefault(module_of(api_name(definition)), []).append(definition)
    for messages in modules.values():
        messages.sort(key=lambda message: message["type"], reverse=True)
    return modules


def client_apis(definitions: list[Definition]) -> set[str]:
    """The names of what a client and a broker may say to each other.

    What only controllers take, or brokers from each other, has a number in `ApiKey` and no message class.
    """
    found = set()
    for definition in definitions:
        name = api_name(definition)
        if definition["validVersions"] == "none":
            continue
        if definition["type"] == "request":
            wanted = "broker" in definition["listeners"] and name not in BETWEEN_BROKERS
        else:
            wanted = definition["type"] in ("data", "header") and name not in NOT_ON_A_CLIENTS_CONNECTION
        if wanted:
            found.add(name)
    return found


def bare_type(type_name: str) -> str:
    return type_name.removeprefix("[]")


def is_struct(type_name: str) -> bool:
    return bare_type(type_name)[0].isupper()


def struct_fields(item: Definition, common: dict[str, list[Definition]]) -> list[Definition]:
    """Fields of the struct that a field holds: defined in place, or among the message's common structs."""
    fields: list[Definition] | None = item.get("fields") or common.get(bare_type(item["type"]))
    if fields is None:
        raise DefinitionError(f"no struct is named {bare_type(item['type'])}")
    return fields


def nested_structs(
    fields: list[Definition], common: dict[str, list[Definition]]
) -> Iterator[tuple[str, list[Definition]]]:
    """Every struct the fields need, inner ones before the ones that use them."""
    for item in fields:
        if is_struct(item["type"]):
            inner = struct_fields(item, common)
            yield from nested_structs(inner, common)
            yield bare_type(item["type"]), inner


def plan_module(messages: list[Definition]) -> list[StructFacts]:
    """Classes of one module in order of definition; a name that request and response use differently is qualified."""
    shapes: dict[str, set[str]] = {}
    commons = []
    for message in messages:
        common = {item["name"]: item["fields"] for item in message.get("commonStructs", ())}
        commons.append(common)
        for name, fields in nested_structs(message["fields"], common):
            shapes.setdefault(name, set()).add(shape_of(fields, common))
    plan: dict[str, StructFacts] = {}
    for message, common in zip(messages, commons, strict=True):
        names = {name: name if len(shapes[name]) == 1 else message["name"] + name for name in shapes}
        for name, fields in nested_structs(message["fields"], common):
            plan.setdefault(names[name], StructFacts(names[name], name, fields, None, names))
        plan[message["name"]] = StructFacts(message["name"], message["name"], message["fields"], message, names)
    return list(plan.values())


def shape_of(fields: list[Definition], common: dict[str, list[Definition]]) -> str:
    """Text that is equal for two structs exactly when the generated classes would be."""

    def facts(item: Definition) -> Definition:
        own = {key: value for key, value in item.items() if key not in ("about", "fields")}
        if is_struct(item["type"]):
            own["fields"] = [facts(inner) for inner in struct_fields(item, common)]
        return own

    return json.dumps([facts(item) for item in fields], sort_keys=True)


def check_field(owner: str, item: Definition) -> None:
    unknown = item.keys() - KNOWN_FIELD_KEYS
    if unknown:
        raise DefinitionError(f"{owner}.{item['name']}: unknown keys {sorted(unknown)}")
    if not is_struct(item["type"]) and bare_type(item["type"]) not in PYTHON_TYPES:
        raise DefinitionError(f"{owner}.{item['name']}: type {item['type']} is not known")
    if "tag" in item and item["type"] == "records":
        raise DefinitionError(f"{owner}.{item['name']}: tagged records are not supported")
    if "tag" in item and "nullableVersions" in item and is_struct(item["type"]) and item["type"][0] != "[":
        raise DefinitionError(f"{owner}.{item['name']}: tagged nullable structs are not supported")
    if "taggedVersions" in item and item["taggedVersions"] != item["versions"]:
        raise DefinitionError(f"{owner}.{item['name']}: tagged in some of its versions only")
    if item.get("flexibleVersions", "none") != "none":
        raise DefinitionError(f"{owner}.{item['name']}: own flexible versions")


def default_text(item: Definition) -> str:
    """Python source of a field's default, as an argument of the class body."""
    kind, default = item["type"], item.get("default")
    if default == "null":
        return "None"
    if kind.startswith("[]"):
        return "field(default_factory=list)"
    if is_struct(kind):
        return "field(default_factory={struct})"
    if default is None:
        return ZERO_DEFAULTS.get(kind, "0")
    if kind == "bool":
        return str(str(default).lower() == "true")
    if kind == "string":
        return json.dumps(default)
    return repr(float(default)) if kind == "float64" else str(int(str(default), 0))


def annotation(item: Definition, struct: str) -> str:
    kind = bare_type(item["type"])
    text = struct if is_struct(kind) else PYTHON_TYPES[kind]
    if item["type"].startswith("[]"):
        text = f"list[{text}]"
    return f"{text} | None" if "nullableVersions" in item and kind != "records" else text


def range_text(versions: tuple[int, int]) -> str:
    return f"({versions[0]}, {'OPEN' if versions[1] == OPEN else versions[1]})"


def field_facts(item: Definition, struct: str) -> str:
    """Python source of one `Field(...)`."""
    prefix = "[]" if item["type"].startswith("[]") else ""
    kind = prefix + ("struct" if struct else bare_type(item["type"]))
    versions = parse_versions(item["versions"])
    if versions is None:
        raise DefinitionError(f"field {item['name']} has no versions")
    parts = [json.dumps(snake_case(item["name"])), json.dumps(kind), range_text(versions)]
    if struct:
        parts.append(f"struct={struct}")
    nullable = parse_versions(item.get("nullableVersions"))
    if nullable:
        parts.append(f"nullable={range_text(nullable)}")
    if "tag" in item:
        parts.append(f"tag={item['tag']}")
    if item.get("ignorable"):
        parts.append("ignorable=True")
    if "flexibleVersions" in item:
        parts.append("flexible=False")
    return f"Field({', '.join(parts)})"


def class_lines(facts: StructFacts) -> Iterator[str]:
    """Source of one class, which `Struct` compares and shows.

    It has a docstring, since `dataclass` makes one of the class's signature at each import, which takes long.
    """
    yield from ("", "", "@dataclass(slots=True, repr=False, eq=False)")
    yield from (f"class {facts.class_name}({base_class(facts)}):", f'    """{class_title(facts)}."""', "")
    rows = []
    for item in facts.fields:
        check_field(facts.json_name, item)
        struct = facts.references[bare_type(item["type"])] if is_struct(item["type"]) else ""
        default = default_text(item).format(struct=struct)
        yield f"    {snake_case(item['name'])}: {annotation(item, struct)} = {default}"
        rows.append(f"        {field_facts(item, struct)},")
    yield "    unknown_tagged: list[tuple[int, bytes]] = field(default_factory=list)"
    yield ""
    yield from message_lines(facts.message)
    if rows:
        yield from ("    FIELDS: ClassVar[tuple[Field, ...]] = (", *rows, "    )")
    else:
        yield "    FIELDS: ClassVar[tuple[Field, ...]] = ()"


def class_title(facts: StructFacts) -> str:
    """What a class is, in a few words."""
    if facts.message is None:
        return f"The struct {facts.json_name}"
    valid = parse_versions(facts.message["validVersions"])
    assert valid is not None  # messages without versions are left out
    versions = f"version {valid[0]}" if valid[0] == valid[1] else f"versions {valid[0]} to {valid[1]}"
    return f"{facts.message['name']}, {versions}"


def base_class(facts: StructFacts) -> str:
    if facts.message is None:
        return "Struct"
    if facts.message["type"] == "request":
        return f"ApiRequest[{response_name(facts.message)}]"
    return "ApiMessage"


def response_name(request: Definition) -> str:
    return str(request["name"]).removesuffix("Request") + "Response"


def message_lines(message: Definition | None) -> Iterator[str]:
    """Class variables only a whole message has."""
    if message is None:
        return
    valid, flexible = parse_versions(message["validVersions"]), parse_versions(message["flexibleVersions"])
    yield f"    API_KEY: ClassVar[int] = {message.get('apiKey', -1)}"
    yield f"    VALID_VERSIONS: ClassVar[tuple[int, int]] = {valid}"
    yield f"    FLEXIBLE_SINCE: ClassVar[int | None] = {flexible[0] if flexible else None}"
    if message.get("latestVersionUnstable"):
        yield "    LATEST_VERSION_UNSTABLE: ClassVar[bool] = True"
    if message["type"] == "request":
        yield f"    RESPONSE: ClassVar[type[ApiMessage]] = {response_name(message)}"


def module_text(release: str, messages: list[Definition]) -> str:
    """Source of one module."""
    body = [line for facts in plan_module(messages) for line in class_lines(facts)]
    text = "\n".join(body)
    helpers = [
        name
        for name in ("OPEN", "ZERO_UUID", "ApiMessage", "ApiRequest", "Field", "Records", "Struct")
        if re.search(rf"\b{name}\b", text)
    ]
    apis = sorted({api_name(message) for message in messages})
    names = " and ".join(message["name"] for message in reversed(messages))
    if len(apis) > 1:
        names = f"Requests and responses of {', '.join(apis[:-1])} and {apis[-1]}"
    head = [header(release), f'"""{names}."""', "", "from __future__ import annotations", ""]
    head += ["from dataclasses import dataclass, field", "from typing import ClassVar"]
    head += ["from uuid import UUID"] if re.search(r"\bUUID\b", text) else []
    head += ["", f"from kafka_core.protocol.schema import {', '.join(helpers)}"]
    return "\n".join([*head, *body]) + "\n"


def header(release: str) -> str:
    return f"# Generated by tools/generate_messages.py from kafka-clients {release}. Do not edit."


def index_text(release: str, definitions: list[Definition]) -> str:
    """Source of messages/__init__.py: the API keys, and where each message class is."""
    wanted = client_apis(definitions)
    requests = sorted((d for d in definitions if d["type"] == "request"), key=lambda d: int(d["apiKey"]))
    lines = [header(release), '"""API keys, and the module of each message class (imported on access only)."""', ""]
    lines += ["from enum import IntEnum", "", "", "class ApiKey(IntEnum):"]
    lines += [
        '    """Every API key of the protocol, also those that no client sends and removed ones."""',
        "",
    ]
    lines += [f"    {snake_case(api_name(d)).upper()} = {d['apiKey']}" for d in requests]
    lines += ["", "", "API_MODULES: dict[int, tuple[str, str, str]] = {"]
    for d in requests:
        if d["validVersions"] != "none" and api_name(d) in wanted:
            lines.append(f'    {d["apiKey"]}: ("{module_of(api_name(d))}", "{d["name"]}", "{response_name(d)}"),')
    lines += ["}", "", "DATA_MODULES: dict[str, str] = {"]
    data = [d["name"] for d in definitions if d["type"] in ("data", "header") and d["name"] in wanted]
    lines += [f'    "{name}": "{snake_case(name)}",' for name in data]
    return "\n".join([*lines, "}"]) + "\n"


def generate(jar: Path) -> dict[str, str]:
    """File name -> contents of the whole messages package."""
    release, definitions = read_definitions(jar)
    files = {f"{module}.py": module_text(release, group) for module, group in group_by_module(definitions).items()}
    return {"__init__.py": index_text(release, definitions), **files}


def differences(files: dict[str, str], target: Path) -> list[str]:
    """Names of files that are missing, different, or there but no longer generated."""
    present = {path.name for path in target.glob("*.py")}
    stale = sorted(present - files.keys())
    return stale + [name for name, text in files.items() if name not in present or (target / name).read_text() != text]


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--jar", type=Path, default=DEFAULT_JAR, help="kafka-clients jar (default: %(default)s)")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the committed files differ")
    options = parser.parse_args(arguments)
    files = generate(options.jar)
    changed = differences(files, TARGET)
    if options.check:
        for name in changed:
            print(f"{TARGET.relative_to(ROOT)}/{name} is not what tools/generate_messages.py writes", file=sys.stderr)
        return 1 if changed else 0
    for name in changed:
        path = TARGET / name
        if name in files:
            path.write_text(files[name])
        else:
            path.unlink()
    print(f"{len(files)} files, {len(changed)} changed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
