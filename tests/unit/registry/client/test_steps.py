from __future__ import annotations

import pytest

from registry.client.steps import Reply, Send
from registry.errors import ResponseError


def test_reply_json() -> None:
    assert Reply(200, b'{"a": 1}').json() == {"a": 1}


def test_a_page_instead_of_json_is_the_servers_error() -> None:
    with pytest.raises(
        ResponseError, match="not JSON but an HTML page of 18 bytes: is this a schema registry"
    ) as caught:
        Reply(200, b"<html>Login</html>").json()
    assert caught.value.http_status_code == 200


def test_headers_and_bodies_are_not_in_repr() -> None:
    assert "geheim" not in repr(Send("GET", "http://a", {}, {"Authorization": "geheim"}, b"geheim"))
