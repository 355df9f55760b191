"""Spark's Python workers: what a task leaves behind in its process, for the tasks after it.

Must not know what tasks do. Spark's daemon (`pyspark.daemon`) collects garbage after every task, before the worker
takes another one; decision 0104 has what that costs.
"""

from __future__ import annotations

import gc
import sys

_loaded = 0


def settle() -> None:
    """Takes what this worker has loaded out of the garbage collector's sight, at the end of a task.

    Modules, plans and connected clients live as long as the worker does, and looking through them takes longer than
    many a task. Done again only where further modules were loaded meanwhile; outside of tasks nothing happens.
    """
    global _loaded
    if len(sys.modules) == _loaded or not _in_task():
        return
    gc.collect()  # what is garbage by now would stay for ever
    gc.freeze()
    _loaded = len(sys.modules)


def _in_task() -> bool:
    from pyspark import TaskContext

    return TaskContext.get() is not None
