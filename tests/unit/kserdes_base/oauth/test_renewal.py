"""kserdes_base.oauth.renewal: when a token is renewed."""

from __future__ import annotations

from kserdes_base.oauth.renewal import NEW_S, may_be_withdrawn, renewal_s


def test_a_token_is_renewed_before_its_end() -> None:
    assert renewal_s(100.0) == 80.0
    assert renewal_s(-5.0) == 0.0


def test_a_refused_token_is_given_up_unless_it_is_new() -> None:
    assert [may_be_withdrawn(age_s) for age_s in (0.0, NEW_S - 0.1, NEW_S)] == [False, False, True]
