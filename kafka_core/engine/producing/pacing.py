"""The number of requests to a broker that are worth having in flight.

Must not know batches or requests: times are handed in.
Spec: the idea is TCP Vegas': what is sent beyond what the path and the broker can work on only waits in a queue there.

A broker handles the requests of a connection one after the other. Where that takes longer than the way there and back,
a second small request is answered no sooner for being sent early, and records that go on collecting instead make it
unnecessary. Where the way is long, answers do not come later for having company, and all that is allowed is in flight.
"""

from typing import Final

CROWDED: Final = 2.0
FREE: Final = 1.5
"""An answer that takes so many times as long as one to a request on its own: one request fewer; less than that: one
more."""


class Window:
    """Of one broker.

    Attributes:
        size: How many requests with batches that are not full may be in flight.
    """

    __slots__ = ("_alone_s", "_most", "size")

    def __init__(self, most: int) -> None:
        self.size = self._most = most
        self._alone_s: float | None = None

    def answered(self, took_s: float, *, alone: bool) -> None:
        """A request was answered.

        Args:
            took_s: Seconds from sending it to its answer.
            alone: Nothing else was in flight when it was sent.
        """
        known_s = self._alone_s
        if known_s is None or took_s < known_s:
            self._alone_s = took_s
        elif alone:
            self._alone_s = (known_s + took_s) / 2  # the way may have become longer
        assert self._alone_s is not None
        if alone or took_s <= FREE * self._alone_s:
            self.size = min(self._most, self.size + 1)
        elif took_s > CROWDED * self._alone_s:
            self.size = max(1, self.size - 1)
