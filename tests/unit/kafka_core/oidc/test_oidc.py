"""kafka_core.oidc: tokens from a token endpoint on loopback, assertions, AWS, and settings that are refused."""

from __future__ import annotations

import base64
import json
import socket
import ssl
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import jwt
import pytest
import trustme
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from kafka_core.config import Config, Role, parse
from kafka_core.errors import AuthError, ConfigError, KafkaError, NetworkError
from kafka_core.oidc.aws import aws_tokens, settings_of
from kafka_core.oidc.pairs import pairs_of
from kafka_core.oidc.provider import MAX_ANSWER_BYTES, TokenEndpoint, extensions_of
from kafka_core.wire.sasl import Token
from kserdes_base import deadlines
from tests.identity_provider import IdentityProvider, identity_provider, unsigned_jwt

PREFIX = "sasl.oauthbearer."
GRANT = {f"{PREFIX}grant.type": "urn:ietf:params:oauth:grant-type:jwt-bearer"}
ASSERTION = f"{PREFIX}assertion."
CLOUD = f"{PREFIX}metadata.authentication.type"


@pytest.fixture
def provider() -> Iterator[IdentityProvider]:
    with identity_provider() as running:
        yield running


def config(**own: Any) -> Config:
    """`a__b` stands for a.b; what has no prefix gets that of `sasl.oauthbearer`."""
    base = {"security.protocol": "sasl_plaintext", "sasl.mechanism": "OAUTHBEARER", f"{PREFIX}method": "oidc"}
    return parse({**base, **own}, Role.ADMIN)


def secret(url: str, **own: Any) -> dict[str, Any]:
    return {
        f"{PREFIX}token.endpoint.url": url,
        f"{PREFIX}client.id": "an id",
        f"{PREFIX}client.secret": "s:e/c+r&et",
        **own,
    }


def fetch(**own: Any) -> Token:
    return TokenEndpoint.from_config(config(**own), time.time)()


# ---- endpoints that are never ready


def drip(connection: socket.socket, head: bytes) -> None:
    """Sends the beginning of an answer, then a byte now and then. OSError: the other side has gone."""
    connection.sendall(head)
    pause = threading.Event()
    while not pause.wait(0.01):
        connection.sendall(b"x")


@contextmanager
def dripping(head: bytes) -> Iterator[str]:
    """The URL of an endpoint that drips until the client has gone."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            connection, _ = listener.accept()
            with connection, suppress(OSError):
                drip(connection, head)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/token"
        thread.join(60)
        assert not thread.is_alive()


@pytest.mark.parametrize(
    "head",
    [
        pytest.param(b"HTTP/1.1 200 OK\r\nX-Long: ", id="a header"),
        pytest.param(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n", id="a body"),
        pytest.param(b"HTTP/1.1 200 OK\r\n\r\n", id="a body without a length"),
    ],
)
def test_an_endpoint_that_drips_is_left(monkeypatch: pytest.MonkeyPatch, head: bytes) -> None:
    monkeypatch.setattr("kafka_core.oidc.provider.TIMEOUT_S", 0.3)
    with dripping(head) as url, pytest.raises(NetworkError, match="did not answer within"):
        fetch(**secret(url))


def test_an_endpoint_that_drips_over_tls_is_left(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("localhost").configure_cert(context)
    authority.cert_pem.write_to_path(str(tmp_path / "ca.pem"))
    monkeypatch.setattr("kafka_core.oidc.provider.TIMEOUT_S", 1.0)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with suppress(OSError), context.wrap_socket(listener.accept()[0], server_side=True) as connection:
                drip(connection, b"HTTP/1.1 200 OK\r\nX-Long: ")

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        url = f"https://localhost:{listener.getsockname()[1]}/token"
        with pytest.raises(NetworkError, match="did not answer within"):
            fetch(**secret(url, **{"https.ca.location": str(tmp_path / "ca.pem")}))
        thread.join(60)
        assert not thread.is_alive()


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\nX-Long: ", b""], ids=["CONNECT", "a handshake"])
def test_an_endpoint_over_tls_that_never_answers_is_left(monkeypatch: pytest.MonkeyPatch, head: bytes) -> None:
    monkeypatch.setattr("kafka_core.oidc.provider.TIMEOUT_S", 0.3)
    for name in ("HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    record = b"\x16\x03\x03\x40\x00"  # the head of a long one of a handshake
    with dripping(head or record) as url:
        if head:  # of a proxy
            monkeypatch.setenv("HTTPS_PROXY", url.removesuffix("/token"))
        asked = "https://issuer.invalid/" if head else url.replace("http:", "https:")
        with pytest.raises(NetworkError, match="did not answer within"):
            fetch(**secret(asked))


def test_httpx_that_has_changed_inside_is_told_and_bodies_are_left_all_the_same(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("kafka_core.oidc.provider.TIMEOUT_S", 0.3)
    monkeypatch.setattr(deadlines, "bound", lambda client: 0)
    deadlines.tell_of_changes.cache_clear()
    for _ in range(2):
        with (
            dripping(b"HTTP/1.1 200 OK\r\nContent-Length: 1000000\r\n\r\n") as url,
            pytest.raises(NetworkError, match="did not answer within"),
        ):
            fetch(**secret(url))
    deadlines.tell_of_changes.cache_clear()
    assert [(record.name, record.getMessage().partition(": ")[2]) for record in caplog.records] == [
        ("kafka_core.oidc", "a token endpoint that answers slowly is not left in time")
    ]


# ---- client credentials


def test_id_and_secret_bring_a_token(provider: IdentityProvider) -> None:
    token = fetch(
        **secret(provider.url, **{f"{PREFIX}scope": "read write+more", f"{PREFIX}extensions": "cluster=lkc, pool=p"})
    )
    assert token.principal == "alice"
    assert token.expires_at_s == pytest.approx(time.time() + 3600, abs=600)
    assert token.extensions == {"cluster": "lkc", "pool": "p"}
    (asked,) = provider.asked
    assert (asked.method, asked.path) == ("POST", "/token")
    assert asked.form == {"grant_type": ["client_credentials"], "scope": ["read write+more"]}
    assert asked.headers["content-type"] == "application/x-www-form-urlencoded"
    assert base64.b64decode(asked.headers["authorization"].removeprefix("Basic ")) == b"an id:s:e/c+r&et"


@pytest.mark.parametrize(("life", "ends_in_s"), [(60, 60), (7200, 3600)])
def test_the_earlier_end_counts(provider: IdentityProvider, life: int, ends_in_s: int) -> None:
    """A clock that is behind makes a token last longer by its claim; `expires_in` knows no clock."""
    provider.body = {"access_token": unsigned_jwt(), "expires_in": life}
    assert fetch(**secret(provider.url)).expires_at_s == pytest.approx(time.time() + ends_in_s, abs=30)


def test_another_claim_may_name_the_principal(provider: IdentityProvider) -> None:
    provider.body = {"access_token": unsigned_jwt(client="service-7")}
    assert fetch(**secret(provider.url, **{f"{PREFIX}sub.claim.name": "client"})).principal == "service-7"


@pytest.mark.parametrize("life", [600, "600"])
def test_a_token_that_is_no_jwt_ends_when_the_answer_says(provider: IdentityProvider, life: object) -> None:
    provider.body = {"access_token": "opaque", "expires_in": life}
    token = TokenEndpoint.from_config(config(**secret(provider.url)), lambda: 1000.0)()
    assert (token.value, token.principal, token.expires_at_s) == ("opaque", "", 1600.0)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (b"no json", "not JSON"),
        (b"\xff\xfe", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        ({"access_token": f"a.{'W1tb' * 30_000}.c"}, "the token has no expiry"),
        ([], "no access_token"),
        ({}, "no access_token"),
        ({"access_token": 3}, "no access_token"),
        ({"access_token": "opaque"}, "the token has no expiry"),
        ({"access_token": "opaque", "expires_in": True}, "the token has no expiry"),
        ({"access_token": "a.b.c", "expires_in": "soon"}, "the token has no expiry"),
        ({"access_token": unsigned_jwt(exp=1)}, "expired"),
        (b" " * (MAX_ANSWER_BYTES + 1), "longer than"),
    ],
)
def test_answers_without_a_token(provider: IdentityProvider, body: object, reason: str) -> None:
    provider.body = body
    with pytest.raises(AuthError, match=reason) as caught:
        fetch(**secret(provider.url))
    assert "opaque" not in str(caught.value)


def test_a_refusal_says_why_and_where_without_a_secret(provider: IdentityProvider) -> None:
    provider.status, provider.body = 401, {"error": "invalid_client", "error_description": "no such client"}
    with pytest.raises(AuthError) as caught:
        fetch(**secret(provider.url.replace("//", "//user:pass@") + "?key=hidden"))
    assert f"no token from {provider.url}: status 401, invalid_client: no such client" in str(caught.value)


@pytest.mark.parametrize("status", [401, 201, 503])
def test_no_answer_that_repeats_a_secret_is_shown(provider: IdentityProvider, status: int) -> None:
    basic = base64.b64encode(b"an id:s:e/c+r&et").decode()
    secrets = ("s:e/c+r&et", "s%3Ae%2Fc%2Br%26et", basic, token := unsigned_jwt(), "x" * 40)
    echoes = [
        {"error": "invalid_client", "error_description": f"not the secret: {' '.join(secrets)}"},
        {"error": f"no {' '.join(secrets)}"},
        {"access_token": token, "refresh_token": "short", "token_type": "Bearer"},
        {"errorCode": "E1", "request": {"client_secret": "s:e/c+r&et"}},
        f"Authorization: Basic {basic}\n<br>client_secret=s%3Ae%2Fc%2Br%26et token={token}".encode(),
    ]
    for body in echoes:
        provider.status, provider.body = status, body
        with pytest.raises((AuthError, NetworkError)) as caught:
            fetch(**secret(provider.url))
        text = str(caught.value)
        assert f"status {status}, " in text
        assert not [one for one in (*secrets, token.partition(".")[0], "short") if one in text]


def test_what_an_endpoint_says_without_a_secret_is_shown(provider: IdentityProvider) -> None:
    trace = "Trace ID: 0b3ab0fd-1c5f-4a43-8d4e-2a1d0c3b6f00 https://login.example.org/tenants/help"
    provider.status, provider.body = 400, {"error": "invalid_scope", "error_description": f"AADSTS70011. {trace}"}
    with pytest.raises(AuthError, match=r"invalid_scope: AADSTS70011\. ") as caught:
        fetch(**secret(provider.url))
    assert trace in str(caught.value)
    provider.body = {"message": "no", "id": 3}
    with pytest.raises(AuthError, match="JSON without the field error: it has message, id"):
        fetch(**secret(provider.url))


def test_an_assertion_that_is_repeated_is_not_shown(provider: IdentityProvider, tmp_path: Path) -> None:
    (tmp_path / "assertion").write_text("an/assertion.of ours")
    provider.status, provider.body = 400, b"no, an/assertion.of ours, an%2Fassertion.of+ours"
    with pytest.raises(AuthError, match="status 400, no, …, …"):
        fetch(**GRANT, **{f"{PREFIX}token.endpoint.url": provider.url, f"{ASSERTION}file": str(tmp_path / "assertion")})


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_passing_trouble_may_be_tried_again(provider: IdentityProvider, status: int) -> None:
    provider.status, provider.body = status, b""
    with pytest.raises(NetworkError, match=f"status {status}, no reason given") as caught:
        fetch(**secret(provider.url))
    assert (caught.value.code, caught.value.retriable) == (KafkaError._TRANSPORT, True)


def test_an_endpoint_that_is_away_may_be_tried_again(refused_port: int) -> None:
    with pytest.raises(NetworkError, match="cannot be asked") as caught:
        fetch(**secret(f"http://127.0.0.1:{refused_port}/token"))
    assert (caught.value.code, caught.value.retriable) == (KafkaError._TRANSPORT, True)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("HTTP_PROXY", "ftp://user:s3cret@proxy:3128"),
        ("HTTP_PROXY", "http://user:s3cr/et@proxy:3128"),
        ("ALL_PROXY", "socks5://user:s3cret@proxy:3128"),
        ("NO_PROXY", "[::1,10.0.0.0/8"),
    ],
)
def test_a_proxy_of_the_environment_that_can_not_be_used_is_told(
    monkeypatch: pytest.MonkeyPatch, refused_port: int, variable: str, value: str
) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    monkeypatch.setitem(sys.modules, "socksio", None)
    monkeypatch.setenv(variable, value)
    with pytest.raises(AuthError, match=r"HTTP_PROXY, .* of the environment cannot be used") as caught:
        fetch(**secret(f"http://127.0.0.1:{refused_port}/token"))
    assert "s3cr" not in str(caught.value)


def test_no_redirect_gets_the_secret(provider: IdentityProvider) -> None:
    provider.status = 307
    with pytest.raises(AuthError, match="status 307"):
        fetch(**secret(provider.url))
    assert [asked.path for asked in provider.asked] == ["/token"]


@pytest.mark.parametrize("how", ["location", "folder", "pem"])
def test_https_is_checked_by_the_authorities_that_are_set(how: str, tmp_path: Path) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    folder = tmp_path / "authorities"
    folder.mkdir()
    pem = authority.cert_pem.bytes()
    (tmp_path / "ca.pem").write_bytes(pem)
    chosen = {
        "location": {"https.ca.location": str(tmp_path / "ca.pem")},
        "folder": {"https.ca.location": str(folder)},
        "pem": {"https.ca.pem": pem.decode()},
    }[how]
    with identity_provider(context) as provider:
        if how == "folder":  # has no certificate under the name of its hash: it is looked into, and nothing is found
            with pytest.raises(NetworkError, match="certificate verify failed"):
                fetch(**secret(provider.url, **chosen))
        else:
            assert fetch(**secret(provider.url, **chosen)).principal == "alice"
        with pytest.raises(NetworkError, match="certificate verify failed"):
            fetch(**secret(provider.url))


# ---- assertions


def pem_of(key: Any, passphrase: bytes | None = None) -> str:
    kind = serialization.BestAvailableEncryption(passphrase) if passphrase else serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    return str(key.private_bytes(serialization.Encoding.PEM, form, kind).decode())


KEYS: dict[str, Any] = {
    "RS256": rsa.generate_private_key(65537, 2048),
    "ES256": ec.generate_private_key(ec.SECP256R1()),
}


@pytest.mark.parametrize("algorithm", KEYS)
def test_an_assertion_is_signed(provider: IdentityProvider, algorithm: str) -> None:
    key = KEYS[algorithm]
    conf = {
        **GRANT,
        f"{PREFIX}token.endpoint.url": provider.url,
        f"{PREFIX}scope": "x",
        f"{ASSERTION}private.key.pem": pem_of(key),
        f"{ASSERTION}algorithm": algorithm,
        f"{ASSERTION}claim.aud": "the endpoint",
        f"{ASSERTION}claim.iss": "the issuer",
        f"{ASSERTION}claim.sub": "the service",
        f"{ASSERTION}claim.exp.seconds": 120,
        f"{ASSERTION}claim.nbf.seconds": 30,
        f"{ASSERTION}claim.jti.include": True,
    }
    endpoint = TokenEndpoint.from_config(config(**conf), time.time)
    assert [endpoint().principal, endpoint().principal] == ["alice", "alice"]
    claims = []
    for asked in provider.asked:
        assert set(asked.form) == {"grant_type", "assertion", "scope"}
        assert "authorization" not in asked.headers
        claims.append(jwt.decode(asked.form["assertion"][0], key.public_key(), [algorithm], audience="the endpoint"))
    assert claims[0].pop("jti") != claims[1].pop("jti")
    for one in claims:
        made_s = one.pop("iat")
        assert one == {
            "aud": "the endpoint",
            "iss": "the issuer",
            "sub": "the service",
            "exp": made_s + 120,
            "nbf": made_s - 30,
        }


def test_a_template_and_a_passphrase(provider: IdentityProvider, tmp_path: Path) -> None:
    (tmp_path / "key.pem").write_text(pem_of(KEYS["ES256"], b"open"))
    template = {"header": {"kid": "k1"}, "payload": {"tenant": [1], "aud": "overruled", "exp": 5}}
    (tmp_path / "template.json").write_text(json.dumps(template))
    fetch(
        **{
            **GRANT,
            f"{PREFIX}token.endpoint.url": provider.url,
            f"{ASSERTION}private.key.file": str(tmp_path / "key.pem"),
            f"{ASSERTION}private.key.passphrase": "open",
            f"{ASSERTION}algorithm": "ES256",
            f"{ASSERTION}claim.aud": "us",
            f"{ASSERTION}jwt.template.file": str(tmp_path / "template.json"),
        }
    )
    text = provider.asked[0].form["assertion"][0]
    assert jwt.get_unverified_header(text) == {"alg": "ES256", "typ": "JWT", "kid": "k1"}
    claims = jwt.decode(text, KEYS["ES256"].public_key(), ["ES256"], audience="us")
    assert (claims["tenant"], claims["exp"] - claims["iat"]) == ([1], 300)


def test_a_ready_assertion_is_read_anew(provider: IdentityProvider, tmp_path: Path) -> None:
    file = tmp_path / "assertion"
    endpoint = TokenEndpoint.from_config(
        config(**{**GRANT, f"{PREFIX}token.endpoint.url": provider.url, f"{ASSERTION}file": str(file)}), time.time
    )
    for text in ("a.b.c\n", "d.e.f"):
        file.write_text(text)
        endpoint()
    assert [asked.form["assertion"] for asked in provider.asked] == [["a.b.c"], ["d.e.f"]]
    file.write_text(" \n")
    with pytest.raises(AuthError, match="is empty"):
        endpoint()
    file.unlink()
    with pytest.raises(AuthError, match="No such file"):
        endpoint()


def test_keys_and_templates_that_can_not_be_used(tmp_path: Path) -> None:
    (tmp_path / "list").write_text("[]")
    (tmp_path / "text").write_text("{")
    good = {**GRANT, f"{PREFIX}token.endpoint.url": "http://x/", f"{ASSERTION}private.key.pem": pem_of(KEYS["ES256"])}
    for own, named in (
        ({f"{ASSERTION}private.key.pem": "nonsense"}, "private.key.pem"),
        ({f"{ASSERTION}private.key.pem": pem_of(KEYS["RS256"], b"x")}, "private.key.pem"),
        ({}, "algorithm"),  # RS256 with the key of a curve
        ({f"{ASSERTION}jwt.template.file": str(tmp_path / "nowhere")}, "jwt.template.file"),
        ({f"{ASSERTION}jwt.template.file": str(tmp_path / "list")}, "jwt.template.file"),
        ({f"{ASSERTION}jwt.template.file": str(tmp_path / "text")}, "jwt.template.file"),
    ):
        with pytest.raises(ConfigError, match=f"{ASSERTION}{named}") as caught:
            TokenEndpoint.from_config(config(**{**good, **own}), time.time)
        assert "PRIVATE" not in str(caught.value)


# ---- clouds


def test_azure_asks_the_metadata_service(provider: IdentityProvider) -> None:
    provider.body = {"access_token": unsigned_jwt(), "expires_in": "86400"}
    conf = {
        CLOUD: "azure_imds",
        f"{PREFIX}token.endpoint.url": provider.url + "?z=1",
        f"{PREFIX}config": "query=api-version=2025-04-07&resource=api://app",
    }
    assert fetch(**conf).principal == "alice"
    (asked,) = provider.asked
    assert (asked.method, asked.headers["metadata"]) == ("GET", "true")
    assert asked.query == {"z": ["1"], "api-version": ["2025-04-07"], "resource": ["api://app"]}


AWS = "region=eu-west-1,audience=https://kafka"


def sts_answer(value: str | None) -> bytes:
    token = "" if value is None else f"<WebIdentityToken>{value}</WebIdentityToken>"
    return (
        '<GetWebIdentityTokenResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetWebIdentityTokenResult>'
        f"{token}<Expiration>2286-11-20T17:46:40Z</Expiration>"
        "</GetWebIdentityTokenResult></GetWebIdentityTokenResponse>"
    ).encode()


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")


@pytest.mark.usefixtures("credentials")
def test_aws_signs_who_the_host_is(provider: IdentityProvider) -> None:
    provider.body = sts_answer(unsigned_jwt(sub="arn:aws:iam::1:role/r"))
    text = f"{AWS},duration_seconds=900,signing_algorithm=RS256,tag_team=data\\,base,sts_endpoint={provider.url}"
    made = config(**{CLOUD: "aws_iam", f"{PREFIX}config": text, f"{PREFIX}extensions": "cluster=lkc"})
    token = aws_tokens(made, extensions_of(made))()
    assert (token.principal, token.expires_at_s, token.extensions) == (
        "arn:aws:iam::1:role/r",
        1e10,
        {"cluster": "lkc"},
    )
    form = {name: values[0] for name, values in provider.asked[0].form.items() if name not in ("Version", "Action")}
    assert form == {
        "Audience.member.1": "https://kafka",
        "DurationSeconds": "900",
        "SigningAlgorithm": "RS256",
        "Tags.member.1.Key": "team",
        "Tags.member.1.Value": "data,base",
    }


@pytest.mark.usefixtures("credentials")
def test_aws_may_refuse(provider: IdentityProvider) -> None:
    made = config(**{CLOUD: "aws_iam", f"{PREFIX}config": f"{AWS},sts_endpoint={provider.url}"})
    tokens = aws_tokens(made, {})
    provider.status = 403
    provider.body = b"<ErrorResponse><Error><Code>AccessDenied</Code><Message>not you</Message></Error></ErrorResponse>"
    with pytest.raises(AuthError, match=r"no token from AWS STS: .*AccessDenied.*not you"):
        tokens()
    provider.status = 503
    with pytest.raises(NetworkError, match="no token from AWS STS"):
        tokens()
    provider.status, provider.body = 200, sts_answer(None)
    with pytest.raises(AuthError, match="has no token"):
        tokens()


@pytest.mark.usefixtures("credentials")
def test_aws_may_be_away(refused_port: int) -> None:
    text = f"{AWS},sts_endpoint=http://127.0.0.1:{refused_port}"
    tokens = aws_tokens(config(**{CLOUD: "aws_iam", f"{PREFIX}config": text}), {})
    with pytest.raises(NetworkError, match="no token from AWS STS") as caught:
        tokens()
    assert caught.value.code == KafkaError._TRANSPORT


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("audience=x", "region is missing"),
        ("region=x", "audience is missing"),
        (f"{AWS},region=", "region must not be empty"),
        (f"{AWS},colour=x", "'colour' is not known"),
        (f"{AWS},tag_=x", "'tag_' is not known"),
        (f"{AWS},duration_seconds=59", "from 60 to 3600"),
        (f"{AWS},duration_seconds=3601", "from 60 to 3600"),
        (f"{AWS},duration_seconds=²", "from 60 to 3600"),
        (f"{AWS},signing_algorithm=none", "ES384 or RS256"),
        (f"{AWS},aws_debug=loud", "none or console"),
        (AWS + "".join(f",tag_{number}=x" for number in range(51)), "51 tags"),
        ("region", "piece 1 is not of the form name=value"),
    ],
)
def test_wrong_settings_of_aws(text: str, reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        settings_of(text)


def test_the_last_of_equal_settings_counts() -> None:
    assert settings_of(f"{AWS},region=eu-north-1,aws_debug=Console,tag_a=1,tag_a=2").tags == {"a": "2"}
    assert settings_of(f"{AWS},region=eu-north-1").region == "eu-north-1"


# ---- what is refused before anything is asked


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("", []),
        ("a=b,,c = d=e ", [("a", "b"), ("c", "d=e")]),
        ("a=b\\,c,d=\\\\", [("a", "b,c"), ("d", "\\")]),
        ("a=", [("a", "")]),
        ("a=b\\tc\\nd,e=\\x", [("a", "b\tc\nd"), ("e", "x")]),  # as librdkafka
        ("a=b\\", [("a", "b")]),
    ],
)
def test_pairs(text: str, pairs: list[tuple[str, str]]) -> None:
    assert pairs_of(text, "p") == pairs


def test_pairs_do_not_show_their_values() -> None:
    with pytest.raises(ConfigError, match="p: piece 2") as caught:
        pairs_of("a=b,hidden", "p")
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize("text", ["a", "=b", "auth=x", "a1=x", "a=ü"])
def test_malformed_extensions(text: str) -> None:
    with pytest.raises(ConfigError, match=f"{PREFIX}extensions"):
        fetch(**secret("http://x/", **{f"{PREFIX}extensions": text}))


@pytest.mark.parametrize("url", ["nonsense", "ftp://x/", "http://"])
def test_endpoints_that_are_no_url(url: str) -> None:
    with pytest.raises(ConfigError, match=f"{PREFIX}token.endpoint.url"):
        fetch(**secret(url))


@pytest.mark.parametrize("url", ["http://user:geheim/x@host/", "http://user:geheim@[::1/", "http://u:geheim@h℀/"])
def test_an_endpoint_that_is_no_url_is_not_quoted(url: str) -> None:
    with pytest.raises(ConfigError, match=f"{PREFIX}token.endpoint.url must be an http or https URL") as caught:
        fetch(**secret(url))
    assert "geheim" not in str(caught.value)
    assert caught.value.__cause__ is None


def test_authorities_that_can_not_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"https\.ca\.location"):
        fetch(**secret("https://x/", **{"https.ca.location": str(tmp_path / "nowhere")}))
    with pytest.raises(ConfigError, match=r"https\.ca\.pem"):
        fetch(**secret("https://x/", **{"https.ca.pem": "nonsense"}))


URL = {f"{PREFIX}token.endpoint.url": "http://x/"}
FILE, PEM, READY = f"{ASSERTION}private.key.file", f"{ASSERTION}private.key.pem", f"{ASSERTION}file"


@pytest.mark.parametrize(
    ("own", "named"),
    [
        ({}, "token.endpoint.url is mandatory"),
        (URL, "client.id is mandatory"),
        ({**URL, f"{PREFIX}client.id": "x"}, "client.secret is mandatory"),
        ({**URL, **GRANT}, "assertion.private.key.pem is mandatory"),
        ({**URL, **GRANT, READY: "f", FILE: "f"}, "mutually exclusive"),
        ({**URL, **GRANT, READY: "f", f"{ASSERTION}claim.aud": "x"}, "mutually exclusive"),
        ({**URL, **GRANT, FILE: "f", PEM: "p"}, "mutually exclusive"),
        (secret("http://x/", **{"https.ca.location": "f", "https.ca.pem": "p"}), "mutually exclusive"),
        (secret("http://x/", **{"enable.sasl.oauthbearer.unsecure.jwt": True}), "mutually exclusive"),
        ({CLOUD: "azure_imds"}, "token.endpoint.url is mandatory"),
        ({CLOUD: "aws_iam"}, "config is mandatory"),
        ({CLOUD: "aws_iam", f"{PREFIX}method": "default"}, "requires sasl.oauthbearer.method=oidc"),
    ],
)
def test_settings_that_are_missing_or_at_odds(own: dict[str, Any], named: str) -> None:
    with pytest.raises(ConfigError, match=named):
        config(**own)


def test_a_callback_goes_before_a_provider() -> None:
    assert config(oauth_cb=print).callback("oauth_cb") is print
