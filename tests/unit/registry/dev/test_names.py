from __future__ import annotations

import pytest

from registry.dev.names import Name, context_name


@pytest.mark.parametrize(
    ("text", "context", "subject", "written"),
    [
        ("orders", ".", "orders", "orders"),
        (":.:orders", ".", "orders", "orders"),
        (":.eu:orders", ".eu", "orders", ":.eu:orders"),
        (":.eu:a:b", ".eu", "a:b", ":.eu:a:b"),
        (":.eu:", ".eu", "", ":.eu:"),
        (":.eu", ".eu", "", ":.eu:"),
        (":eu:orders", ".", ":eu:orders", ":eu:orders"),
        (":*:orders", "*", "orders", ":*:orders"),
        ("", ".", "", ""),
    ],
)
def test_names_are_read_and_written_in_one_way(text: str, context: str, subject: str, written: str) -> None:
    name = Name.parse(text)
    assert (name.context, name.subject, str(name)) == (context, subject, written)
    assert Name.parse(str(name)) == name


def test_a_name_without_context_means_the_one_it_is_said_in() -> None:
    assert str(Name.parse(":.eu:orders").beside("used")) == ":.eu:used"
    assert str(Name.parse(":.eu:orders").beside(":.us:used")) == ":.us:used"
    assert str(Name.parse("orders").beside("used")) == "used"


@pytest.mark.parametrize("text", ["a", ".a", ":.a:", ":.a"])
def test_contexts_in_urls(text: str) -> None:
    assert context_name(text) == ".a"


def test_a_context_has_no_colon_inside() -> None:
    with pytest.raises(ValueError, match="colon"):
        context_name("a:b")


@pytest.mark.parametrize("text", ["", ":.eu:", "a\nb", "a\x7f", "__GLOBAL", "__EMPTY", ":.__GLOBAL:a", ":*:a"])
def test_subjects_nothing_can_be_registered_under(text: str) -> None:
    assert not Name.parse(text).is_valid()


@pytest.mark.parametrize("text", ["a", "../../etc/passwd", "ä b?c#d%", ":.eu:a", "a/b"])
def test_everything_else_is_a_name(text: str) -> None:
    assert Name.parse(text).is_valid()
