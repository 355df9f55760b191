"""Variants beside confluent-kafka: the same bytes, the same values of them, the same verdicts of CEL."""

from __future__ import annotations

import decimal
import json
import struct
import uuid
import warnings
from typing import Any, Final

import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from serdes import variants
from serdes.rules import RuleError
from serdes.rules.bounds import Bounds
from serdes.rules.cel.executor import evaluate
from serdes.rules.cel.values import field_to_cel
from serdes.variants import messages

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # authlib warns of httpx when it is imported
    celpy = pytest.importorskip("celpy")
    peer = pytest.importorskip("confluent_kafka.schema_registry.confluent.type.variant_utils", exc_type=ImportError)
    peer_messages = pytest.importorskip("confluent_kafka.schema_registry.protobuf", exc_type=ImportError)
    peer_cel = pytest.importorskip("confluent_kafka.schema_registry.rules.cel.cel_validator", exc_type=ImportError)
    peer_extra = pytest.importorskip("confluent_kafka.schema_registry.rules.cel.extra_func", exc_type=ImportError)
    peer_runner = pytest.importorskip(
        "confluent_kafka.schema_registry.rules.cel.cel_field_presence", exc_type=ImportError
    )

pytestmark = [pytest.mark.interop, pytest.mark.filterwarnings("ignore")]
REFUSED: Final = "refused"
BITS: Final = {"byte": 8, "short": 16, "int": 32, "long": 64}
YEARS_US: Final = st.integers(-62_135_596_800_000_000, 253_402_300_799_999_999)
I64: Final = st.integers(-(2**63), 2**63 - 1)
TEXTS: Final = st.text(st.characters(exclude_categories=["Cs"]), max_size=80)
JSON: Final = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**38) + 1, 10**38 - 1) | st.floats() | TEXTS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(TEXTS, inner, max_size=5),
)
DECIMALS: Final = st.builds(
    lambda unscaled, scale: decimal.Decimal(unscaled).scaleb(-scale, decimal.Context(prec=100)),
    st.integers(-(10**38) + 1, 10**38 - 1),
    st.integers(0, 38),
)
SINGLE: Final = st.one_of(
    st.just(("null",)),
    st.tuples(st.just("boolean"), st.booleans()),
    *(st.tuples(st.just(name), st.integers(-(2 ** (n - 1)), 2 ** (n - 1) - 1)) for name, n in BITS.items()),
    st.tuples(st.just("float"), st.floats(width=32)),
    st.tuples(st.just("double"), st.floats()),
    st.tuples(st.just("decimal"), DECIMALS),
    st.tuples(st.just("string"), TEXTS),
    st.tuples(st.just("binary"), st.binary(max_size=80)),
    st.tuples(st.just("uuid"), st.uuids()),
    st.tuples(st.just("date"), st.integers(-719_162, 2_932_896)),
    st.tuples(st.just("time"), st.integers(0, 86_399_999_999)),
    st.tuples(st.sampled_from(["timestamp_tz", "timestamp_ntz"]), YEARS_US),
    st.tuples(st.sampled_from(["timestamp_nanos_tz", "timestamp_nanos_ntz"]), I64),
)
ANY: Final = st.recursive(
    SINGLE,
    lambda inner: (
        st.tuples(st.just("array"), st.lists(inner, max_size=4))
        | st.tuples(st.just("object"), st.dictionaries(TEXTS, inner, max_size=4))
    ),
)
GETTERS: Final = ("boolean", "byte", "short", "int", "long", "float", "double", "decimal", "string", "binary", "uuid")


def fill(builder: Any, what: tuple[Any, ...]) -> None:
    """The same calls on either builder."""
    if what[0] == "array":
        builder.start_array()
        for one in what[1]:
            fill(builder, one)
        builder.end_array()
    elif what[0] == "object":
        builder.start_object()
        for key, one in what[1].items():
            builder.append_key(key)
            fill(builder, one)
        builder.end_object()
    else:
        getattr(builder, f"append_{what[0]}")(*what[1:])


def built(kind: Any, what: tuple[Any, ...]) -> Any:
    builder = kind()
    fill(builder, what)
    return builder.build()


def facts(found: Any) -> Any:
    """All that can be asked of a variant; what refuses is left out."""
    kind = found.get_type().value
    if kind == "ARRAY":
        return [facts(found.get_element_at_index(index)) for index in range(found.num_array_elements())]
    if kind == "OBJECT":
        fields = [found.get_field_at_index(index) for index in range(found.num_object_fields())]
        return {key: (facts(one), facts(found.get_field_by_key(key))) for key, one in fields}
    made = {}
    for name in GETTERS:
        try:
            made[name] = repr(getattr(found, f"get_{name}")())
        except ValueError:
            continue
        except IndexError:  # the peer reads a scale before it looks at the type
            continue
    return kind, made


def both(value: bytes, metadata: bytes) -> tuple[Any, Any]:
    return variants.Variant(value, metadata), peer.Variant(value, metadata)


@given(ANY)
@settings(deadline=None, max_examples=300, derandomize=True)
def test_built_and_read_alike(what: tuple[Any, ...]) -> None:
    one, two = built(variants.VariantBuilder, what), built(peer.VariantBuilder, what)
    assert (one.value, one.metadata) == (two.value, two.metadata)
    one, two = both(two.value, one.metadata)
    assert facts(one) == facts(two)
    assert one.to_json() == two.to_json()


@given(JSON)
@example({f"key {number}": number for number in range(300)})
@example(list(range(70_000)))
@settings(deadline=None, max_examples=300, derandomize=True)
def test_json(tree: Any) -> None:
    text = json.dumps(tree)
    one, two = variants.parse_json(text), peer.parse_json(text)
    assert (one.value, one.metadata) == (two.value, two.metadata)
    assert one.to_json() == two.to_json()


def test_every_key_of_a_large_object_is_found() -> None:
    text = json.dumps({f"é{number:x}": number for number in range(400)})
    one, two = both(peer.parse_json(text).value, variants.parse_json(text).metadata)
    for key in json.loads(text):
        assert one.get_field_by_key(key).get_long() == two.get_field_by_key(key).get_long()
    for key in ("", "é", "é1900", "zz"):
        assert one.get_field_by_key(key) is two.get_field_by_key(key) is None


@given(st.integers(0, 2**32 - 1))
@settings(deadline=None, max_examples=300, derandomize=True)
def test_floats_of_32_bits(bits: int) -> None:
    value = bytes([14 << 2]) + struct.pack("<I", bits)
    one, two = both(value, b"\x01\x00\x00")
    assert one.to_json() == two.to_json()


@given(ANY, st.data())
@settings(deadline=None, max_examples=300, derandomize=True)
def test_damaged_bytes_are_never_read_otherwise(what: tuple[Any, ...], data: st.DataObject) -> None:
    """The peer reads damaged bytes as we do; we may refuse more."""
    good = built(variants.VariantBuilder, what)
    value, metadata = bytearray(good.value), bytearray(good.metadata)
    for part in (value, metadata):
        if data.draw(st.booleans()):
            part[data.draw(st.integers(0, len(part) - 1))] = data.draw(st.integers(0, 255))
    try:
        text = variants.Variant(bytes(value), bytes(metadata)).to_json()
    except variants.VariantError:
        assume(False)
    assert text == peer.Variant(bytes(value), bytes(metadata)).to_json()


@given(ANY)
@settings(deadline=None, max_examples=50, derandomize=True)
def test_messages(what: tuple[Any, ...]) -> None:
    one, two = built(variants.VariantBuilder, what), built(peer.VariantBuilder, what)
    message = messages.variant_to_protobuf(one)
    assert message.SerializeToString() == peer_messages.variant_to_protobuf(two).SerializeToString()
    assert messages.protobuf_to_variant(message) == one
    assert peer_messages.protobuf_to_variant(message) == two


# --- CEL


def shown(value: Any) -> Any:
    if hasattr(value, "to_json"):
        return ("variant", value.standalone_value_bytes(), value.metadata)
    return (type(value).__name__, str(value))


def ours(expression: str, this: Any = None) -> Any:
    try:
        return shown(evaluate(expression, {"this": None if this is None else field_to_cel(this, None)}, Bounds("r")))
    except RuleError:
        return REFUSED


def theirs(expression: str, this: Any = None) -> Any:
    environment = celpy.Environment(runner_class=peer_runner.InterpretedRunner)
    try:
        program = environment.program(environment.compile(expression), functions=peer_extra.EXTRA_FUNCS)
        return shown(program.evaluate({"this": None if this is None else peer_cel._to_cel(None, this)}))
    except (celpy.CELEvalError, celpy.CELParseError, LookupError, ArithmeticError, TypeError, ValueError):
        return REFUSED


DOCUMENT: Final = json.dumps(
    {
        "a": {"b": [1, 2.5, None, True, "x", {"c d": 12345678901234567890, "e'\"\\": []}]},
        "é": "ü",
        "_1": {},
        "n": None,
        "a²": 1,
    }
)
PATHS: Final = [
    *("$", "$.a", "$.a.b", "$.a.b[0]", "$.a.b[1]", "$.a.b[2]", "$.a.b[3]", "$.a.b[4]", "$.a.b[5]", "$.a.b[6]"),
    *("$.a.b[5]['c d']", '$.a.b[5]["c d"]', "$['a']['b'][00]", "$.é", "$._1", "$.n", "$.n.x", "$.a²", "$[0]", "$.x"),
    *(r"""$.a.b[5]['e\'"\\']""", r"""$.a.b[5]["e'\"\\"]""", r"$['\u00e9']", r"$['\"']", r"$['a", "$['a'", "$['a']x"),
    *("", "a", "$a", "$.", "$..a", "$.1", "$.²", "$[", "$[]", "$[-1]", "$[x]", "$[1", "$[2147483647]", "$[2147483648]"),
    *("$['']", "$[٣]", "$.a .b", "$[99999999999999999999999]", "$.a[0]", "$['a\"']", " $", "$\n", "$['\n']", "$['\\"),
]


@pytest.mark.parametrize("path", PATHS)
def test_paths(path: str) -> None:
    expression = "variants.path(variants.parseJson(this[0]), this[1])"
    assert ours(expression, [DOCUMENT, path]) == theirs(expression, [DOCUMENT, path])


NAMES: Final = [
    *("string", "int", "double", "boolean", "decimal", "timestamp", "bytes", "object", "array", "null", "date", "time"),
    *("uuid", "", "Int"),
]


@given(SINGLE | st.just(("array", [])) | st.just(("object", {})))
@example(("timestamp_tz", 2**62))
@example(("timestamp_nanos_tz", -1))
@example(("timestamp_ntz", -(2**63)))
@settings(deadline=None, max_examples=60, derandomize=True)
def test_values_of_variants(what: tuple[Any, ...]) -> None:
    message = messages.variant_to_protobuf(built(variants.VariantBuilder, what))
    for name in NAMES:
        for function in ("as", "tryAs"):
            expression = f"variants.{function}(this, '{name}')"
            assert ours(expression, message) == theirs(expression, message)
    for expression in ("variants.type(this)", "variants.isNull(this)", "variants.toJson(this)", "variant(this)"):
        assert ours(expression, message) == theirs(expression, message)
    as_map = {"metadata": message.metadata, "value": message.value}
    assert ours("variants.type(this)", as_map) == theirs("variants.type(this)", as_map)


@pytest.mark.parametrize(
    "expression",
    [
        "variant(null)",
        "variant('{}')",
        "variant(1)",
        "variant(b'')",
        "variant()",
        "variant({})",
        "variant([])",
        "variant({'metadata': b'', 'value': b''})",
        "variant({'metadata': b'\\x01\\x00\\x00', 'value': b'\\x00'})",
        "variant({'metadata': b'\\x01\\x00\\x00'})",
        "variant({'metadata': 'x', 'value': b''})",
        "variant(b'\\x00', b'\\x01\\x00\\x00')",
        "variant(b'\\x00', b'')",
        "variant(b'\\x00', b'\\x02\\x00\\x00')",
        "variant('x', b'\\x01')",
        "variant(b'', b'', b'')",
        "variants.type(variant(b'', b'\\x01\\x00\\x00'))",
        "variants.isNull(variant(b'\\x00', b'\\x01\\x00\\x00'))",
        "variants.isNull(null)",
        "variants.isNull(1)",
        "variants.isNull('x')",
        "variants.isNull({'metadata': b'\\x01\\x00\\x00', 'value': b'\\x00'})",
        "variants.parseJson('[1,')",
        "variants.parseJson(1)",
        "variants.parseJson(null)",
        "variants.parseJson('[1, 1.5, \"x\"]')",
        "variants.parseJson('123456789012345678901234567890123456789')",
        "variants.tryParseJson('[1,')",
        "variants.tryParseJson('[1]')",
        "variants.tryParseJson(1)",
        "variants.type(null)",
        "variants.type('x')",
        "variants.type(1)",
        "variants.field(variants.parseJson('{\"a\": 1}'), 'a')",
        "variants.field(variants.parseJson('{\"a\": 1}'), 'b')",
        "variants.field(variants.parseJson('[1]'), 'b')",
        "variants.field(variants.parseJson('{\"1\": 1}'), 1)",
        "variants.field(null, 'a')",
        "variants.field(null, 1)",
        "variants.field('x', 'a')",
        "variants.index(variants.parseJson('[1, 2]'), 1)",
        "variants.index(variants.parseJson('[1, 2]'), 2)",
        "variants.index(variants.parseJson('[1, 2]'), -1)",
        "variants.index(variants.parseJson('[1, 2]'), 1u)",
        "variants.index(variants.parseJson('[1, 2]'), 1.0)",
        "variants.index(variants.parseJson('[1, 2]'), true)",
        "variants.index(variants.parseJson('{}'), 1.5)",
        "variants.index(variants.parseJson('{}'), 1)",
        "variants.index(variants.parseJson('[1, 2]'), 4294967296)",
        "variants.path(null, '$')",
        "variants.path(null, '')",
        "variants.path(null, 1)",
        "variants.path(variants.parseJson('{}'), 1)",
        "variants.as(null, 'int')",
        "variants.as(null, 1)",
        "variants.tryAs(null, 'object')",
        "variants.tryAs(variants.parseJson('1'), 1)",
        "variants.as(variants.parseJson('1'), 'int') + 1",
        "variants.as(variants.parseJson('1'), 'string') == '1'",
        "variants.tryAs(variants.parseJson('1'), 'string') == null",
        "variants.toJson(null)",
        "variants.toJson('x')",
        "variants.nothing(1)",
        "variants.parseJson('[1]') == variants.parseJson('[1]')",
        "variants.parseJson('[1]') != variants.parseJson('[2]')",
        "variants.parseJson('[1]') == variants.parseJson('[2]')",
        "variants.field(variants.parseJson('{}'), 'a') == null",
        "variants.parseJson('null') == null",
        "variants.parseJson('1') == 1",
        "variants.parseJson('1') in [variants.parseJson('1')]",
        "decimals.eq(variants.as(variants.parseJson('12345678901234567890'), 'decimal'), decimal('12345678901234567890'))",  # noqa: E501
    ],
)
def test_expressions(expression: str) -> None:
    assert ours(expression) == theirs(expression)


@pytest.mark.parametrize("text", ["[1]", '{"a": {"b": null}}', '"x"'])
def test_an_equal_message_is_equal(text: str) -> None:
    message = messages.variant_to_protobuf(variants.parse_json(text))
    for expression in (
        f"variant(this) == variants.parseJson('{text}')",
        f"variants.parseJson('{text}') == variant(this)",
        "variant(this) == variant(this)",
        f"variant(this) in [variants.parseJson('{text}')]",
    ):
        assert ours(expression, message) == theirs(expression, message) == ("BoolType", "True")


def test_an_empty_message_is_null() -> None:
    for expression in ("variant(this) == null", "variants.isNull(this)", "variants.type(this) == null"):
        assert ours(expression, messages.Variant()) == theirs(expression, messages.Variant())


def test_types_of_values_are_named_alike() -> None:
    assert [one.value for one in variants.VariantType] == [one.value for one in peer.VariantType]
    one, two = both(bytes([20 << 2]) + bytes(range(16)), b"\x01\x00\x00")
    assert one.get_uuid() == two.get_uuid() == uuid.UUID(bytes=bytes(range(16)))
