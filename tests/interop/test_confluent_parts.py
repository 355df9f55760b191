"""Private helpers of confluent_kafka that code imports: the same answers and errors here and there."""

from __future__ import annotations

import base64
import datetime
import functools
import importlib
import io
import itertools
import json
import threading
import time
import warnings
from collections.abc import Callable, Iterable
from enum import Enum
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from kafka_core import KafkaError
from kserdes.compat.confluent.table import HOMES, RENAMED

pytestmark = pytest.mark.interop
with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    peer = pytest.importorskip("confluent_kafka")


def theirs(module: str) -> ModuleType:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return importlib.import_module(f"confluent_kafka.{module}")


def ours(module: str, name: str) -> Any:
    for home, known in [RENAMED[name]] if name in RENAMED else [(home, name) for home in HOMES[module]]:
        found = getattr(importlib.import_module(home), known, None)
        if found is not None:
            return found
    raise AssertionError(f"{module}.{name} is not here")


def outcome(call: Callable[..., Any], *given: Any) -> Any:
    """The result of a call, or its error's class and text."""
    try:
        return call(*given)
    except Exception as error:
        return type(error).__name__, str(error)


def same(module: str, name: str, arguments: Iterable[tuple[Any, ...]]) -> None:
    """One function with many arguments."""
    there, here = getattr(theirs(module), name), ours(module, name)
    for given in arguments:
        assert outcome(here, *given) == outcome(there, *given), given


PIECES = [
    "a=1",
    " b = 2 ",
    "c",
    "=d",
    "e=",
    r"f=1\,2",
    r"\ g=x\ ",
    r"h=\t\n\r\0\q",
    "i=1=2",
    "",
    "  ",
    "\\",
    "\u00a0j=k",
]
TEXTS = [",".join(pieces) for size in (0, 1, 2) for pieces in itertools.product(PIECES, repeat=size)]


def test_texts_are_split_alike() -> None:
    module = "_util.librdkafka_string_parser"
    cases = [(text, sep, skip) for text in TEXTS for sep in (",", ", ", " ", "") for skip in (True, False)]
    same(module, "split", [*cases, (None, ",", True)])
    same(module, "parse_key_values", [(text, ",", label) for text in TEXTS for label in (None, "a property")])


class Colour(Enum):
    RED = 1
    BLUE = 2


def test_checks_answer_alike() -> None:
    there, here = theirs("_util").ConversionUtil, ours("_util", "ConversionUtil")
    for value in ("red", "BLUE", "", "green", 1, 3, Colour.RED, None, 1.5, IndexError):
        for kind in (Colour, dict, "Colour"):
            assert outcome(here.convert_to_enum, value, kind) == outcome(there.convert_to_enum, value, kind)
    there, here = theirs("_util").ValidationUtil, ours("_util", "ValidationUtil")
    item = SimpleNamespace(a="text", b=None, c=5)
    for check, names in itertools.product(
        ("check_multiple_not_none", "check_multiple_is_string"), ([], ["a"], ["a", "b"], ["c", "b"])
    ):
        assert outcome(getattr(here, check), item, names) == outcome(getattr(there, check), item, names)
    for errors in (None, [], (), [1], "x"):
        assert outcome(here.check_kafka_errors, errors) == outcome(there.check_kafka_errors, errors)
    assert here.check_kafka_errors([KafkaError(1)]) is None
    assert outcome(lambda: here.check_kafka_error(1)) == outcome(lambda: there.check_kafka_error(1))


SETTINGS = [
    "region=eu,audience=x",
    "region=eu",
    "audience=x",
    "",
    "region=,audience=x",
    "region=eu,audience=x,duration_seconds=60,signing_algorithm=RS256,sts_endpoint=http://h,aws_debug=CONSOLE",
    *(f"region=eu,audience=x,duration_seconds={value}" for value in ("59", "3601", "x", "", "1.5")),
    "region=eu,audience=x,signing_algorithm=HS256",
    "region=eu,audience=x,aws_debug=loud",
    "region=eu,audience=x,sts_endpoint=",
    "region=eu,audience=x,tag_a=1,tag_b=,tag_a=2",
    "region=eu,audience=x,tag_=1",
    "region=eu,audience=x,extension_a=1",
    "region=eu,audience=x," + ",".join(f"tag_{number}={number}" for number in range(51)),
    r"region=eu,region=us,audience=https\://a\,b",
    "region",
]


def read(kind: Any, text: str | None, extensions: Any) -> dict[str, Any]:
    return vars(kind.parse(text, extensions))


def built(kind: Any, given: dict[str, Any]) -> dict[str, Any]:
    return vars(kind(**given))


def test_settings_of_aws_are_read_alike() -> None:
    module = "_oauthbearer.aws.aws_oauthbearer_config"
    there, here = theirs(module).AwsOAuthBearerConfig, ours(module, "AwsOAuthBearerConfig")
    for text in [*SETTINGS, None]:
        for extensions in (None, {"a": "b"}, []):
            mine = outcome(read, here, text, extensions)
            assert mine == outcome(read, there, text, extensions), text
    for wrong in ({"duration_seconds": True}, {"duration_seconds": 1.5}, {"tags": []}, {"region": 5}):
        given = {"region": "eu", "audience": "x", **wrong}
        assert outcome(built, here, given) == outcome(built, there, given)
    for name in theirs(module).__all__:
        if name.isupper():
            assert ours(module, name) == getattr(theirs(module), name)
    same("_oauthbearer.aws.sasl_extensions_parser", "parse", [(None,), ("",), ("a=b,c=d",), ("a",), (" , ",)])
    same("_oauthbearer.aws.aws_autowire", "create_handler", [("", None), (None, ""), ("x=1", None), ("region=a", "b")])


def token(*parts: object) -> str:
    texts = (part if isinstance(part, str) else json.dumps(part) for part in parts)
    return ".".join(base64.urlsafe_b64encode(text.encode()).decode().rstrip("=") for text in texts)


TOKENS = [
    *(None, "", "a.b", "a.b.c.d", "a..c", "a.b.c", "a.bc.d", "a.b%cd.e", "a.____.c", "x" * 8193),
    token({}, {"sub": "me"}, "sig"),
    token({}, {"sub": "mé"}, "sig"),
    token({}, {"sub": ""}, "sig"),
    token({}, {"sub": 5}, "sig"),
    token({}, {}, "sig"),
    token({}, [1], "sig"),
    token({}, "no json", "sig"),
]


class Sts:
    def __init__(self, answer: dict[str, Any]) -> None:
        self.answer = answer
        self.asked: list[dict[str, Any]] = []

    def get_web_identity_token(self, **request: Any) -> dict[str, Any]:
        self.asked.append(request)
        return self.answer


def test_tokens_of_aws_are_asked_for_and_read_alike() -> None:
    same("_oauthbearer.aws.jwt_extractor", "extract_sub", [(each,) for each in TOKENS])
    module, settings = "_oauthbearer.aws.aws_sts_token_provider", "_oauthbearer.aws.aws_oauthbearer_config"
    ends = datetime.datetime(2030, 1, 1, tzinfo=datetime.UTC)
    good = token({}, {"sub": "me"}, "s")
    for answer in (
        {},
        {"WebIdentityToken": good},
        {"WebIdentityToken": 5},
        {"WebIdentityToken": good, "Expiration": ends},
    ):
        made = []
        for provider, config in (
            (theirs(module).AwsStsTokenProvider, theirs(settings).AwsOAuthBearerConfig),
            (ours(module, "AwsStsTokenProvider"), ours(settings, "AwsOAuthBearerConfig")),
        ):
            sts = Sts(answer)
            own = provider(config.parse("region=eu,audience=x,tag_a=1", {"logicalCluster": "c"}), sts_client=sts)
            made.append((outcome(own.token), sts.asked))
        assert made[0] == made[1]
    for versions in (("1.42.24",), ("1.42.25",), ("2.0rc1",), ("1",), ("x.y",)):
        same(module, "_version_tuple", [versions])


BEARER: dict[str, dict[str, Any]] = {
    "STATIC_TOKEN": {"bearer.auth.token": "t"},
    "OAUTHBEARER": {
        "bearer.auth.client.id": "i",
        "bearer.auth.client.secret": "s",
        "bearer.auth.scope": "o",
        "bearer.auth.issuer.endpoint.url": "http://h/t",
    },
    "OAUTHBEARER_AZURE_IMDS": {"bearer.auth.issuer.endpoint.query": "a=b"},
    "CUSTOM": {"bearer.auth.custom.provider.function": dict, "bearer.auth.custom.provider.config": {"a": 1}},
    "ELSE": {},
}
COMMON = {"bearer.auth.logical.cluster": "lsrc-1", "bearer.auth.identity.pool.id": ["p1", "p2"]}


def provided(build: Any, conf: dict[str, Any]) -> Any:
    source, provider = build(conf, 2, 10, 20)
    known = {name: value for name, value in vars(provider).items() if name != "client"}
    return source, type(provider).__name__.lstrip("_"), known, conf


@pytest.mark.parametrize("kind", ["", "Async"])
def test_providers_of_bearer_tokens_are_built_alike(kind: str) -> None:
    module = f"schema_registry._{'async' if kind else 'sync'}.schema_registry_client"
    name = f"_{kind}FieldProviderBuilder"
    there, here = getattr(theirs(module), name).build, ours(module, name).build
    for source, own in BEARER.items():
        whole = {"bearer.auth.credentials.source": source, "other": 1, **COMMON, **own}
        without = [{key: value for key, value in whole.items() if key != left} for left in whole]
        wrong = [{**whole, key: 5} for key in whole]
        for conf in (whole, *without, *wrong):
            assert outcome(provided, here, dict(conf)) == outcome(provided, there, dict(conf))


def test_a_kept_token_ends_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    module = "schema_registry._sync.schema_registry_client"
    pauses: list[list[float]] = [[], []]
    own, sleep = threading.get_ident(), time.sleep

    def pause(place: int, seconds: float) -> None:
        if threading.get_ident() == own:
            pauses[place].append(seconds)
        else:
            sleep(seconds)

    for place, (client, error) in enumerate(
        (
            (theirs(module)._OAuthClient, theirs("schema_registry.error").OAuthTokenError),
            (ours(module, "_OAuthClient"), ours("schema_registry.error", "OAuthTokenError")),
        )
    ):
        made = client("i", "s", "o", "http://h", "c", 2, 1000, 2000, "pool")
        monkeypatch.setattr("time.sleep", functools.partial(pause, place))
        for seconds, expired in ((100, True), (1000, True), (5000, False)):
            now = datetime.datetime.now(datetime.UTC).timestamp()
            made.token_object = {"expires_at": now + seconds, "expires_in": 10_000}
            assert made.token_expired() is expired

        def fails() -> str:
            raise OSError("away")

        made.fetch_token = fails
        with pytest.raises(error, match="Failed to retrieve token after 2 attempts due to error: away"):
            made.get_access_token()
        made.fetch_token = lambda: "t1"
        assert made.get_bearer_fields() == {
            "bearer.auth.token": "t1",
            "bearer.auth.logical.cluster": "c",
            "bearer.auth.identity.pool.id": "pool",
        }
    assert [len(each) for each in pauses] == [2, 2]


def test_numbers_of_frames_are_written_and_read_alike() -> None:
    module = "schema_registry._sync.protobuf"
    there, here = theirs(module).ProtobufSerializer, ours(module, "ProtobufSerializer")
    kinds = (theirs("schema_registry.common.serde").SchemaId, ours("schema_registry.common.serde", "SchemaId"))
    for path in ([0], [1], [0, 0], [1, 2, 3], [300, 70_000], [-1, 5], [2**40]):
        for zigzag in (True, False):
            if path[0] < 0 and not zigzag:
                continue
            written = []
            for kind in (there, here, *kinds):
                stream = io.BytesIO()
                kind._encode_varints(stream, path, zigzag=zigzag)
                written.append(stream.getvalue())
            assert len(set(written)) == 1
            assert [kind._read_index_array(io.BytesIO(written[0]), zigzag=zigzag) for kind in kinds] == [path, path]
    for data in (b"", b"\x80", b"\x02", b"\x01", b"\xff\xff\xff\x01"):
        read = [outcome(kind._read_index_array, io.BytesIO(data)) for kind in kinds]
        assert read[0] == read[1]


def test_small_functions_answer_alike() -> None:
    module = "schema_registry.common.protobuf"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        meta = theirs("schema_registry.confluent.meta_pb2")
    nested = meta.Meta.DESCRIPTOR.nested_types[0]
    same(module, "_create_index_array", [(meta.Rule.DESCRIPTOR,), (meta.Meta.DESCRIPTOR,), (nested,)])
    same(module, "_schema_to_str", [(meta.DESCRIPTOR,)])
    text = ours(module, "_schema_to_str")(meta.DESCRIPTOR)
    same(module, "_str_to_proto", [("a.proto", text), ("a.proto", "AAAA"), ("a.proto", "%")])
    same(module, "_is_builtin", [("confluent/meta.proto",), ("google/type/a.proto",), ("google/a.proto",)])
    encryption = "schema_registry.rules.encryption.encrypt_executor"
    subjects = [None, "a", ":.c:a", ":.:a", ":.c", ":.:", ":c:a"]
    same(encryption, "_context_for", [(subject,) for subject in subjects])
    for name in ("_MAGIC_BYTE_V0", "_MAGIC_BYTE_V1", "_KEY_SCHEMA_ID", "_VALUE_SCHEMA_ID"):
        assert ours("schema_registry", name) == getattr(theirs("schema_registry"), name)
    variants = "schema_registry.confluent.type.variant_utils"
    numbers = {name: value for name, value in vars(theirs(variants)).items() if name.isupper() and name[0] != "_"}
    assert {name: ours(variants, name) for name in numbers} == numbers


def test_the_options_of_schemas_are_the_same_file() -> None:
    there = theirs("schema_registry.confluent.meta_pb2")
    from google.protobuf import descriptor_pb2

    from kserdes.compat.confluent.serdes import meta

    mine, other = meta._file(), descriptor_pb2.FileDescriptorProto()
    there.DESCRIPTOR.CopyToProto(other)
    for file in (mine, other):  # names for JSON are written into generated files, and follow from the others
        for message in file.message_type:
            for field in (*message.field, *(each for nested in message.nested_type for each in nested.field)):
                field.ClearField("json_name")
        for extension in file.extension:
            extension.ClearField("json_name")
    assert mine == other
