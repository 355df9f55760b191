from __future__ import annotations

import copy
import pickle

import pytest

from registry import (
    IncompatibleSchemaError,
    InvalidSchemaError,
    ResponseError,
    SchemaRegistryError,
    TransportError,
)
from registry.errors import OAuthTokenError

ERRORS = [
    SchemaRegistryError(500, 50001, "store"),
    TransportError(-1, -1, "refused"),
    OAuthTokenError("no token", 401, "invalid_client"),
    ResponseError(404, 40401, "Subject 'x' not found."),
    IncompatibleSchemaError(409, 409, "no", ["a", "b"]),
    InvalidSchemaError.local("bad"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
def test_pickles_and_copies_with_all_facts(error: SchemaRegistryError) -> None:
    for twin in (pickle.loads(pickle.dumps(error)), copy.copy(error)):
        assert type(twin) is type(error)
        assert vars(twin) == vars(error)
        assert str(twin) == str(error)


def test_text_is_that_of_confluent_kafka() -> None:
    assert str(ResponseError(404, 40401, "Subject 'x' not found.")) == (
        "Subject 'x' not found. (HTTP status code 404, SR code 40401)"
    )


@pytest.mark.parametrize(
    ("error", "retriable"),
    [(ERRORS[0], True), (ERRORS[1], True), (ERRORS[3], False), (ResponseError(429, 429, "slow down"), True)],
)
def test_retriable(error: SchemaRegistryError, retriable: bool) -> None:
    assert error.retriable is retriable


def test_one_root() -> None:
    assert all(isinstance(error, SchemaRegistryError) for error in ERRORS)
    assert issubclass(IncompatibleSchemaError, ResponseError)
    assert issubclass(InvalidSchemaError, ResponseError)


@pytest.mark.parametrize(
    ("status", "code", "is_not_there"),
    [
        (404, 40401, True),
        (404, 40403, True),
        (404, 404, False),
        (404, 40400, False),
        (500, 40403, False),
        (-1, -1, False),
    ],
)
def test_only_a_code_of_the_registry_says_that_something_is_not_there(
    status: int, code: int, is_not_there: bool
) -> None:
    assert ResponseError(status, code, "x").not_found is is_not_there


def test_a_missing_token_says_what_the_endpoint_said() -> None:
    error = OAuthTokenError("no token", 401, "invalid_client")
    assert (str(error), error.status_code, error.response_text) == (
        "no token (HTTP 401): invalid_client",
        401,
        "invalid_client",
    )
    assert str(OAuthTokenError("no token")) == "no token"
    assert error.retriable
