"""kserdes_base.headers: what can be the value of a header."""

from __future__ import annotations

import base64

import pytest

from kserdes_base.headers import basic_header, fits_header


@pytest.mark.parametrize(
    ("value", "fits"), [("a b~", True), ("", True), ("a\n", False), ("a\x00", False), ("ä", False), ("\x7f", False)]
)
def test_only_printable_ascii_fits(value: str, fits: bool) -> None:
    assert fits_header(value) is fits


def test_user_and_password_are_joined_as_they_are() -> None:
    kind, _, pair = basic_header("alice", "pä:ss").partition(" ")
    assert (kind, base64.b64decode(pair).decode()) == ("Basic", "alice:pä:ss")
