"""The same scenarios on aiokafka and on our dialect of it, on a real broker: the results are equal."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import Iterator
from typing import Any

import pytest

from kafka_core.admin import AdminClient, NewTopic
from tests.contract.clusters import unique, wait_until_led
from tests.interop import aiokafka_admin_scenarios, aiokafka_scenarios
from tests.interop.aiokafka_scenarios import LIMIT_S, Api
from tools.real_kafka import RealKafka

pytestmark = [pytest.mark.interop, pytest.mark.broker]

SCENARIOS = {**aiokafka_scenarios.SCENARIOS, **aiokafka_admin_scenarios.SCENARIOS}
MODULES = ("", ".errors", ".structs", ".admin", ".admin.config_resource")
HOMES = {".admin.config_resource": ".admin"}


@pytest.fixture(scope="module")
def admin(real_kafka: RealKafka) -> Iterator[AdminClient]:
    with AdminClient({"bootstrap.servers": real_kafka.bootstrap_servers}) as client:
        yield client


def played(name: str, root: str, servers: str, admin: AdminClient) -> Any:
    """The result of a scenario on one implementation."""
    topic, group = unique("aio"), unique("group")
    admin.create_topics([NewTopic(topic, 3, 1)])[topic].result(LIMIT_S)
    wait_until_led(admin, {topic: 3})
    ours = root.startswith("kserdes")
    modules = [importlib.import_module(root + (HOMES.get(part, part) if ours else part)) for part in MODULES]
    api = Api(*modules, servers=servers, topic=topic, group=group)  # type: ignore[arg-type,misc]

    async def run() -> Any:
        try:
            return await asyncio.wait_for(SCENARIOS[name](api), 2 * LIMIT_S)
        finally:
            await api.end()

    return api.plain(asyncio.run(run()))


@pytest.mark.parametrize("name", SCENARIOS)
def test_both_do_the_same(name: str, real_kafka: RealKafka, admin: AdminClient) -> None:
    servers = real_kafka.bootstrap_servers
    assert played(name, "kserdes.compat.aiokafka", servers, admin) == played(name, "aiokafka", servers, admin)


def test_there_are_enough_scenarios() -> None:
    assert len(SCENARIOS) >= 60
