"""kserdes_base.oauth.aws: what STS is asked."""

from __future__ import annotations

import pytest

from kserdes_base.oauth.aws import web_identity_request


def test_tags_are_pairs_of_key_and_value() -> None:
    assert web_identity_request("https://kafka", "RS256", 900, {"team": "data"}) == {
        "Audience": ["https://kafka"],
        "SigningAlgorithm": "RS256",
        "DurationSeconds": 900,
        "Tags": [{"Key": "team", "Value": "data"}],
    }


@pytest.mark.parametrize("tags", [{}, None])
def test_without_tags_there_is_no_list_of_them(tags: dict[str, str] | None) -> None:
    assert "Tags" not in web_identity_request("a", "ES384", 60, tags)
