"""kserdes_base.masking: no secret is in a text that is shown."""

from __future__ import annotations

import pytest

from kserdes_base.masking import masked, without_secrets


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://user:pass@host:1/path?key=hidden#part", "https://host:1/path"),
        ("http://u:p@ss@host", "http://host"),
        ("http://host/path", "http://host/path"),
        ("", ""),
    ],
)
def test_a_url_is_shown_without_what_may_be_secret(url: str, shown: str) -> None:
    assert masked(url) == shown


def test_what_is_no_url_is_refused() -> None:
    with pytest.raises(ValueError, match="Invalid"):
        masked("http://[::1")


def test_secrets_and_what_looks_like_a_token_are_hidden() -> None:
    assert without_secrets("not s3cret, s3cret-and-more", {"s3cret", "s3cret-and-more"}) == "not …, …"
    assert without_secrets(f"a eyJhbGciOiJub25lIn0.eyJzdWIi.x b {'x' * 40} c", ()) == "a … b … c"


def test_words_and_short_secrets_stay() -> None:
    text = "Trace 0b3ab0fd-1c5f-4a43-8d4e-2a1d0c3b6f00 of the tenant"
    assert without_secrets(text, {"the", ""}) == text
