"""kafka_core.aio.net.tokens: one token for all connections, fetched off the loop, renewed early."""

import asyncio
import threading

import pytest

from kafka_core.aio.net import tokens as module
from kafka_core.aio.net.tokens import TokenSource
from kafka_core.clock import ManualClock
from kafka_core.config import Role, parse
from kafka_core.errors import AuthError
from kafka_core.wire.sasl import Token
from kserdes_base.oauth.renewal import NEW_S
from tests.faults.loop import on_loop, outcome, properties_of, until


def source(callback: object = None, clock: ManualClock | None = None, **properties: object) -> TokenSource | None:
    named: dict[str, object] = {"security_protocol": "sasl_plaintext", "sasl_mechanism": "OAUTHBEARER", **properties}
    if callback is not None:
        named["oauth_cb"] = callback
    return TokenSource.from_config(parse(properties_of("x", named), Role.ADMIN), clock or ManualClock())


class Issuer:
    """An oauth_cb that counts, and gives tokens of a certain life."""

    def __init__(self, clock: ManualClock, life_s: float) -> None:
        self.clock, self.life_s = clock, life_s
        self.calls: list[tuple[object, str]] = []
        self.failure: Exception | None = None

    def __call__(self, text: object) -> tuple[str, float]:
        self.calls.append((text, threading.current_thread().name))
        if self.failure is not None:
            raise self.failure
        return f"token{len(self.calls)}", self.clock.time_ms() / 1000 + self.life_s


class TestFromConfig:
    @pytest.mark.parametrize(
        "properties",
        [
            {"security_protocol": "plaintext"},
            {"sasl_mechanism": "PLAIN", "sasl_username": "u", "sasl_password": "p"},
        ],
    )
    def test_no_token_is_needed(self, properties: dict[str, object]):
        assert source(**properties) is None

    @on_loop
    async def test_unsecured_tokens(self):
        made = source(enable_sasl_oauthbearer_unsecure_jwt=True, sasl_oauthbearer_config="principal=alice")
        assert made is not None
        assert (await made.get()).principal == "alice"
        await made.close()


class TestGet:
    @on_loop
    async def test_the_callback_gets_its_text_on_a_thread_of_its_own(self):
        issuer = Issuer(clock := ManualClock(), 100)
        made = source(issuer, clock, sasl_oauthbearer_config="the text")
        assert made is not None
        assert (await made.get()).value == "token1"
        assert issuer.calls == [("the text", "kafka-core-oauth")]
        await made.close()

    @on_loop
    async def test_only_a_callback_whose_client_has_no_valid_token_keeps_its_loop_waiting(self):
        issuer = Issuer(clock := ManualClock(), 100)
        waiting: list[bool] = []

        def callback(text: object) -> tuple[str, float]:
            waiting.append(module.loop_without_token() is loop)
            return issuer(text)

        loop = asyncio.get_running_loop()
        made = source(callback, clock)
        assert made is not None
        await made.get()
        await made._start()  # the renewal, while the first token holds
        clock.advance(101)
        await made.get()
        assert (waiting, module.loop_without_token()) == ([True, False, True], None)
        await made.close()

    @on_loop
    async def test_concurrent_callers_share_a_call_and_later_ones_the_token(self):
        issuer = Issuer(clock := ManualClock(), 100)
        made = source(issuer, clock)
        assert made is not None
        values = await asyncio.gather(*(made.get() for _ in range(5)))
        clock.advance(50)
        assert {token.value for token in [*values, await made.get()]} == {"token1"}
        assert len(issuer.calls) == 1
        await made.close()

    @on_loop
    async def test_an_expired_token_is_not_given_out(self):
        issuer = Issuer(clock := ManualClock(), 100)
        made = source(issuer, clock)
        assert made is not None
        await made.get()
        clock.advance(101)
        assert (await made.get()).value == "token2"
        await made.close()

    @on_loop
    async def test_a_token_that_a_broker_refuses_is_replaced_once(self):
        clock = ManualClock()
        issuer = Issuer(clock, 3600)
        made = source(issuer, clock)
        assert made is not None
        first = await made.get()
        made.refused(first)
        assert await made.get() is first, "a new token that is refused is no reason for the next one"
        clock.advance(NEW_S)
        made.refused(first)
        second = await made.get()
        assert second.value == "token2"
        clock.advance(NEW_S)
        made.refused(first)
        assert await made.get() is second, "what another connection was refused is no more in use"
        await made.close()

    @pytest.mark.parametrize("failure", [RuntimeError("identity provider is down"), AuthError("as it is")])
    @on_loop
    async def test_a_failing_callback_is_an_auth_error(self, failure: Exception):
        issuer = Issuer(clock := ManualClock(), 100)
        issuer.failure = failure
        made = source(issuer, clock)
        assert made is not None
        error = await outcome(made.get())
        assert isinstance(error, AuthError)
        assert ("identity provider is down" in str(error)) or error is failure
        issuer.failure = None
        assert (await made.get()).value == "token2"
        await made.close()

    @on_loop
    async def test_whatever_a_provider_raises_is_an_auth_error(self):
        """Of an error that nobody knows the client's tasks would end: no connection, and nobody told."""

        def broken() -> Token:
            raise ImportError("no such package")

        made = TokenSource(broken, ManualClock(), name="the token endpoint")
        told: list[str] = []
        made.on_failure = told.append
        error = await outcome(made.get())
        assert isinstance(error, AuthError)
        assert "the token endpoint: ImportError('no such package')" in str(error)
        assert isinstance(error.__cause__, ImportError)
        await made.close()

    @on_loop
    async def test_a_wrong_result_is_an_auth_error(self):
        made = source(lambda _: "just a token")
        assert made is not None
        assert "oauth_cb must return" in str(await outcome(made.get()))
        await made.close()

    @on_loop
    async def test_a_cancelled_caller_does_not_stop_the_fetch(self):
        release = threading.Event()
        clock = ManualClock()

        def slow(_: object) -> tuple[str, float]:
            release.wait(60)
            return "t", clock.time_ms() / 1000 + 100

        made = source(slow, clock)
        assert made is not None
        first, second = asyncio.ensure_future(made.get()), asyncio.ensure_future(made.get())
        await asyncio.sleep(0.01)
        first.cancel()
        release.set()
        assert (await second).value == "t"
        await made.close()


class TestRenewal:
    @on_loop
    async def test_happens_early_without_anybody_asking(self):
        issuer = Issuer(clock := ManualClock(), 0.05)  # renewed after 0.04 s of the loop's time
        made = source(issuer, clock)
        assert made is not None
        await made.get()
        await until(lambda: len(issuer.calls) >= 3)
        await made.close()
        count = len(issuer.calls)
        await asyncio.sleep(0.08)
        assert len(issuer.calls) <= count + 1

    @on_loop
    async def test_is_tried_again_while_the_old_token_holds(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(module, "RETRY_S", 0.01)
        issuer = Issuer(clock := ManualClock(), 0.05)
        made = source(issuer, clock)
        assert made is not None
        assert (await made.get()).value == "token1"
        issuer.failure = RuntimeError("down")
        await until(lambda: len(issuer.calls) >= 3)
        assert (await made.get()).value == "token1"
        issuer.failure = None
        await until(lambda: made._token is not None and made._token.value != "token1")
        await made.close()

    @on_loop
    async def test_a_renewal_that_fails_is_told_of(self, monkeypatch: pytest.MonkeyPatch):
        monkeypatch.setattr(module, "RETRY_S", 0.01)
        issuer = Issuer(clock := ManualClock(), 0.05)
        made = source(issuer, clock)
        assert made is not None
        told: list[str] = []
        made.on_failure = told.append
        issuer.failure = RuntimeError("down")
        with pytest.raises(AuthError):
            await made.get()
        assert told == []  # the connection that wanted it says so
        issuer.failure = None
        await made.get()
        issuer.failure = RuntimeError("down")
        await until(lambda: bool(told))
        assert told[0] == "Failed to acquire SASL OAUTHBEARER token: oauth_cb failed: RuntimeError('down')"
        await made.close()

    def test_at_80_percent(self):
        assert Token("t", 1100.0).refresh_delay_s(1000.0) == 80.0
