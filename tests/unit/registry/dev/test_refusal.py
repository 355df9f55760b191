from __future__ import annotations

import pytest

from registry.dev import refusal
from registry.dev.refusal import Refusal

CODES = {
    refusal.subject_not_found("s"): (404, 40401),
    refusal.version_not_found(3): (404, 40402),
    refusal.schema_not_found(): (404, 40403),
    refusal.subject_deleted("s"): (404, 40404),
    refusal.subject_not_deleted("s"): (404, 40405),
    refusal.version_deleted("s", 1): (404, 40406),
    refusal.version_not_deleted("s", 1): (404, 40407),
    refusal.no_subject_config("s"): (404, 40408),
    refusal.no_subject_mode("s"): (404, 40409),
    refusal.association_not_found("r"): (404, 40410),
    refusal.incompatible("s", ["why"]): (409, 409),
    refusal.resource_associated("key", "r"): (409, 40903),
    refusal.subject_associated("s"): (409, 40904),
    refusal.strong_association("s"): (409, 40905),
    refusal.no_active_version("s"): (409, 40907),
    refusal.association_frozen("key", "s"): (409, 40908),
    refusal.invalid_schema("why"): (422, 42201),
    refusal.invalid_version("x"): (422, 42202),
    refusal.invalid_level(): (422, 42203),
    refusal.invalid_policy(): (422, 42203),
    refusal.invalid_mode(): (422, 42204),
    refusal.id_taken(5): (422, 42205),
    refusal.reference_exists("s", 1): (422, 42206),
    refusal.invalid_subject("s"): (422, 42208),
    refusal.invalid_rules("why"): (422, 42210),
    refusal.context_not_empty(".c"): (422, 42211),
    refusal.invalid_association("p", "why"): (422, 42212),
    refusal.store_failed("why"): (500, 50001),
}


@pytest.mark.parametrize(("made", "codes"), CODES.items(), ids=lambda item: getattr(item, "message", ""))
def test_codes_are_those_of_confluent(made: Refusal, codes: tuple[int, int]) -> None:
    assert (made.status, made.code) == codes
    assert made.message


def test_reasons_are_in_the_text() -> None:
    assert "details: [a, b]" in refusal.incompatible("s", ["a", "b"]).message
    assert "subject=s,version=2" in refusal.reference_exists("s", 2).message
    assert refusal.schema_not_found(7).message == "Schema 7 not found"


def test_headers_say_what_a_client_may_do() -> None:
    assert ("Allow", "GET, PUT") in refusal.wrong_method(["GET", "PUT"]).headers
    assert refusal.unauthorized().headers[0][0] == "WWW-Authenticate"
