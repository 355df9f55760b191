"""Every method of every compiled class, called with what it was not made for, raises; none crashes or reads garbage.

The calls are generated from the classes themselves and made in a process of their own, which a crash would end.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.patience import PROCESS_S

MODULES = sorted(
    ".".join(path.with_suffix("").parts)
    for place in ("kafka_core/kernels/native", "serdes/kernels/native")
    for path in Path(place).glob("*.pyx")
)

CALLS = '''
import faulthandler, importlib, inspect, itertools, os, random, sys, types
faulthandler.enable()
seed, names = int(sys.argv[1]), sys.argv[2:]
rng = random.Random(seed)
log = os.open(sys.argv[0] + ".last", os.O_WRONLY | os.O_CREAT)
wrong, calls = [], 0

class Foreign:
    """Has every attribute, and means nothing."""
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return rng.choice([None, 0, -1, 2**40, b"x", "x"])

POOL = [None, 0, 1, -1, 7, 2**31 - 1, -2**31, 2**40, -2**63, 2**64, 1.5, float("nan"), "t", "", b"", b"abc" * 40,
        bytearray(200), memoryview(b"xyz"), [], [1, None], {}, {"value": 1}, (), (1, 2), object(), Foreign(), int, len,
        lambda *a: None, lambda *a, **k: b"q"]

modules = [importlib.import_module(name) for name in names]
classes = {}
def found(cls):
    if cls.__module__ in names:
        classes[f"{cls.__module__}.{cls.__qualname__}"] = cls
functions = []
for module in modules:
    for name, item in vars(module).items():
        if isinstance(item, type):
            found(item)
        elif isinstance(item, types.BuiltinFunctionType) and item.__module__ in names:
            functions.append((f"{module.__name__}.{name}", item))

def arguments(function, extra):
    try:
        parameters = list(inspect.signature(function).parameters.values())[extra:]
    except (TypeError, ValueError):
        yield from [(), (None,), (None, None), (rng.choice(POOL),)]
        return
    positional = [item for item in parameters if item.kind in (item.POSITIONAL_ONLY, item.POSITIONAL_OR_KEYWORD)]
    required = [item for item in positional if item.default is item.empty]
    for count in {len(required), len(positional)}:
        yield (None,) * count
        for _ in range(10):
            yield tuple(rng.choice(POOL) for _ in range(count))

def text(item):
    return f"{item!r:.60}" if type(item).__module__ == "builtins" else f"a {type(item).__name__}"

def call(what, function, args, keywords=()):
    global calls
    calls += 1
    os.pwrite(log, f"{what}{[text(item) for item in args]}".encode()[:500].ljust(500), 0)
    try:
        result = function(*args, **dict(keywords))
        repr(result)
        if isinstance(result, memoryview):
            bytes(result)
    except Exception as error:
        return error
    return None

def made(cls):
    """Instances that have not been through __init__, or only with junk."""
    try:
        yield cls.__new__(cls)
    except Exception:
        pass
    for args in arguments(cls, 0):
        error = None
        try:
            yield cls(*args)
        except Exception:
            pass
    for args in [("t",), (0,), (b"abc" * 40,), ("t", 0, 10, 0, 0.0), ("t", 0, -5, 500, 0.0)]:
        try:
            yield cls(*args)
        except Exception:
            pass

for qualified, cls in sorted(classes.items()):
    for name, item in sorted(vars(cls).items()):
        method = getattr(cls, name)
        if name in ("__new__", "__doc__", "__module__", "__hash__") or not callable(item):
            if hasattr(type(item), "__get__") and hasattr(type(item), "__set__"):  # a property or member
                for instance in (1, object(), Foreign()):
                    error = call(f"{qualified}.{name}.__get__", item.__get__, (instance, None))
                    if not isinstance(error, TypeError):
                        wrong.append(f"{qualified}.{name} read of {instance!r}")
                for instance in made(cls):
                    call(f"{qualified}.{name} of an instance", getattr, (instance, name))
                    for value in POOL:
                        call(f"set {qualified}.{name}", setattr, (instance, name, value))
                        if callable(instance):
                            call(f"{qualified}()", instance, (b"frame",))
            continue
        if isinstance(item, (staticmethod, types.ClassMethodDescriptorType)):  # no self of their own
            continue
        for foreign in (None, 1, "x", b"x", object(), Foreign(), cls):
            for args in itertools.islice(arguments(method, 1), 3):
                error = call(f"{qualified}.{name}", method, (foreign, *args))
                if not isinstance(error, TypeError):
                    wrong.append(f"{qualified}.{name} of {type(foreign).__name__} gave {error!r}")
        for instance in made(cls):
            for args in arguments(method, 1):
                call(f"{qualified}.{name}", method, (instance, *args))
for name, function in functions:
    for args in arguments(function, 0):
        call(name, function, args)
print(calls, len(classes), len(functions))
for line in sorted(set(wrong)):
    print("WRONG", line)
'''


def test_no_compiled_method_crashes_or_answers_when_self_or_its_arguments_are_not_its_own(tmp_path: Path) -> None:
    pytest.importorskip("kafka_core.kernels.native.message")
    script = tmp_path / "calls.py"
    script.write_text(CALLS)
    command = [sys.executable, str(script), "1", *MODULES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PROCESS_S)
    last = Path(f"{script}.last")
    where = last.read_text() if last.exists() else "nowhere"
    assert done.returncode == 0, f"ended with {done.returncode} in {where}\n{done.stderr[-3000:]}"
    calls, classes, functions = map(int, done.stdout.split("\n", 1)[0].split())
    assert calls > 3000
    assert classes >= 14
    assert functions >= 8
    assert "WRONG" not in done.stdout, done.stdout
