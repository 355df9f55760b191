"""The failures of a cluster client that still stand: why brokers and bootstrap servers cannot be reached.

Must not know connections: it is told of failures and successes, and tells listeners and error texts.
Spec: confluent_kafka's error_cb; KafkaError._ALL_BROKERS_DOWN.
"""

import logging
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from kafka_core.engine.metadata import BrokerAddress
from kafka_core.errors import KafkaError, KafkaException, NetworkError

logger: Final = logging.getLogger("kafka_core.aio")

_PASSING: Final = ""
"""The key of a failure that only explains a time-out: it belongs to no broker."""
_NO_BOOTSTRAP: Final = "bootstrap.servers"
"""The key of the failure of a client that was told of no broker."""


class Failures:
    """One failure per broker (by node id) and per bootstrap server (by `host:port`), the first one of its kind.

    Args:
        bootstrap: the bootstrap servers, in the order of the setting.

    Attributes:
        muted: nobody is told any more that all brokers are down (the client is closing).
    """

    def __init__(self, bootstrap: Sequence[tuple[str, int]]) -> None:
        self.muted = False
        self._bootstrap = [f"{host}:{port}" for host, port in bootstrap]
        self._standing: dict[int | str, KafkaException] = {}
        if not bootstrap:  # stands for ever: nobody can be reached
            text = "bootstrap.servers is not set: this client knows no broker to ask"
            self._standing[_NO_BOOTSTRAP] = NetworkError(text, KafkaError._TRANSPORT)
        self._all_down_told = False
        self._listeners: list[Callable[[KafkaError], None]] = []

    # ---- what is known

    def all(self) -> list[KafkaException]:
        """The failures that stand: the first one first, those of bootstrap servers in the order of the setting."""
        order = {address: index for index, address in enumerate(self._bootstrap)}
        return [self._standing[key] for key in sorted(self._standing, key=lambda key: order.get(str(key), -1))]

    def of_broker(self, node_id: int) -> list[KafkaException]:
        """The failure of one broker, if it has one."""
        return [error for key, error in self._standing.items() if key == node_id]

    @property
    def first(self) -> KafkaException | None:
        """The first failure that stands; None while all is well."""
        return next(iter(self.all()), None)

    def all_fail(self, node_ids: Iterable[int]) -> bool:
        """Whether none of these brokers can be reached."""
        return all(node_id in self._standing for node_id in node_ids)

    # ---- what happens

    def listen(self, listener: Callable[[KafkaError], None]) -> None:
        """Has `listener` told of each failure, once until the broker has answered again."""
        self._listeners.append(listener)

    def broker_failed(self, broker: BrokerAddress, error: KafkaException) -> None:
        """A broker could not be connected to, or its connection was lost."""
        self._note(broker.node_id, error)

    def bootstrap_failed(self, address: str, error: KafkaException) -> None:
        """A bootstrap server could not be asked."""
        self._note(address, error)
        if all(known in self._standing for known in self._bootstrap):
            self.tell_all_down(len(self._bootstrap))

    def tell_all_down(self, count: int) -> None:
        """Reports that none of `count` brokers can be reached, once until one answers."""
        if self._all_down_told or self.muted:
            return
        self._all_down_told = True
        text = f"{count}/{count} brokers are down; first cause: {self.first}"
        error = KafkaError(KafkaError._ALL_BROKERS_DOWN, text, retriable=True)
        logger.warning("%s", error.str())
        self._tell(error)

    def token_failed(self, text: str) -> None:
        """A token could not be renewed: connections last as long as the old one holds."""
        self._tell(KafkaError(KafkaError._AUTHENTICATION, text))

    def note_passing(self, error: KafkaException) -> None:
        """Keeps a cause for the text of a time-out, without telling anybody."""
        self._standing.setdefault(_PASSING, error)

    def forget_passing(self) -> None:
        """Drops the causes noted during an earlier call, because another one begins."""
        self._standing.pop(_PASSING, None)

    def broker_reached(self, broker: BrokerAddress) -> None:
        """There is a connection to a broker."""
        self._standing.pop(broker.node_id, None)
        self.cluster_reached()

    def cluster_reached(self) -> None:
        """Drops the failures of bootstrap servers, because the cluster has been reached."""
        self._all_down_told = False
        for address in [key for key in self._standing if isinstance(key, str)]:
            del self._standing[address]

    def keep_only(self, brokers: Iterable[int]) -> None:
        """Forgets brokers that are not in the cluster any more."""
        left = set(brokers)
        for gone in [key for key in self._standing if isinstance(key, int) and key not in left]:
            del self._standing[gone]

    def _note(self, key: int | str, error: KafkaException) -> None:
        known = self._standing.get(key)
        if known is None or known.code != error.code:
            self._standing[key] = error
            logger.info("%s", error)
            self._tell(error.error)

    def _tell(self, error: KafkaError) -> None:
        for listener in self._listeners:
            try:
                listener(error)
            except Exception:
                logger.exception("an error listener failed")
