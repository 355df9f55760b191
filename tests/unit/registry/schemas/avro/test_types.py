from __future__ import annotations

from registry.schemas.avro.types import NO_DEFAULT, ArrayType, Field, FixedType, Primitive, TypeName, type_name


def test_names_in_sentences() -> None:
    assert type_name(FixedType("x.F", [], None, {}, 4)) == "x.F"
    assert type_name(ArrayType(Primitive(TypeName.INT))) == "array"


def test_parts_of_a_name() -> None:
    fixed = FixedType("x.y.F", [], None, {}, 4)
    assert (fixed.short_name, fixed.namespace) == ("F", "x.y")
    assert FixedType("F", [], None, {}, 4).namespace == ""


def test_null_is_a_default() -> None:
    assert Field("a", Primitive(TypeName.NULL), None, [], "ascending", None, {}).has_default
    assert not Field("a", Primitive(TypeName.NULL), NO_DEFAULT, [], "ascending", None, {}).has_default
    assert repr(NO_DEFAULT) == "NO_DEFAULT"


def test_identity_is_equality() -> None:
    assert Primitive(TypeName.INT) != Primitive(TypeName.INT)
