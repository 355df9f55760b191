"""Of transactions: readers of what is committed see all of one or nothing, and each input once in the output.

Must not know the application's clients: it looks at what the logs hold, committed, and at what the application heard.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from tests.simulation.pipe_app import OUTPUT
from tests.simulation.world import Run


def _outputs(run: Run) -> Counter[str]:
    return Counter(
        value
        for (incarnation, _), records in run.committed.items()
        if run.incarnations[incarnation][0] == OUTPUT
        for _, value in records
    )


def whole(run: Run) -> Iterator[str]:
    """Committed inputs are in the output; inputs given up are not, unless they came again."""
    outputs = _outputs(run)
    wrote: dict[str, list[str]] = defaultdict(list)
    for event in run.history.of("pipe", "piped"):
        if event.what == "pipe":
            wrote[event.data[0]].append(event.data[1])
            continue
        for value in wrote[event.data[0]]:
            if not outputs[value]:
                yield f"transaction {event.data[0]} was committed, and {value} is not in the output"


def once(run: Run) -> Iterator[str]:
    """Each input that was acknowledged is once in the output; nothing is there twice."""
    if not any(client.role == "pipe" for client in run.plan.clients):
        return
    outputs = _outputs(run)
    for value, count in sorted(outputs.items()):
        if count > 1:
            yield f"{value} is in the output {count} times"
    inputs = {
        value
        for (incarnation, _), records in run.truth.items()
        if run.incarnations[incarnation][0] == "t"
        for _, value in records
    }
    if not run.late:
        for value in sorted(inputs - outputs.keys()):
            yield f"{value} is not in the output"


def stable(run: Run) -> Iterator[str]:
    """No transaction is left open when every producer was closed."""
    for text in run.open_transactions:
        yield f"left open: {text}"
