"""A plugin of pytest that finds the test modules which call no pure kernel: their tests run the same code on both sets.

`make kernel-use` writes them to `tests/without_kernels.txt`; `make test` leaves these out of the run on the pure
kernels. Functions of pure kernels count their calls while this is loaded. What a child process calls is not seen, so a
test that starts one counts as a caller.
"""

from __future__ import annotations

import ast
import importlib.abc
import importlib.machinery
import os
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import CodeType, ModuleType

import pytest

PURE = ("kafka_core.kernels.pure", "serdes.kernels.pure")
PROCESSES = frozenset({"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system"})
OPTION = "--without-kernels"

calls = [0]
"""The number of calls so far, of kernels and of processes started."""
by_module: Counter[str] = Counter()


class _Counting(importlib.machinery.SourceFileLoader):
    """Loads a module each of whose functions counts its calls."""

    def get_code(self, fullname: str) -> CodeType:
        """Compiled now: what is kept as bytecode does not count."""
        path = self.get_filename(fullname)
        tree = ast.parse(self.get_data(path))
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                behind = 1 if ast.get_docstring(node) is not None else 0
                node.body[behind:behind] = ast.parse("__kernel_calls__[0] += 1").body
        code: CodeType = compile(ast.fix_missing_locations(tree), path, "exec", dont_inherit=True)
        return code

    def exec_module(self, module: ModuleType) -> None:
        vars(module)["__kernel_calls__"] = calls
        super().exec_module(module)


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        if not name.startswith(PURE):
            return None
        spec = importlib.machinery.PathFinder.find_spec(name, path)
        if spec is not None and isinstance(spec.loader, importlib.machinery.SourceFileLoader):
            spec.loader = _Counting(spec.loader.name, spec.loader.path)
        return spec


def _hear(event: str, arguments: tuple[object, ...]) -> None:
    if event in PROCESSES:
        calls[0] += 1


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(OPTION, help="a file that gets the test modules that call no kernel")


def pytest_configure(config: pytest.Config) -> None:
    if os.environ.get("KAFKA_CORE_KERNELS") != "pure":
        raise pytest.UsageError("calls of kernels are counted with KAFKA_CORE_KERNELS=pure")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    before = calls[0]
    result = yield
    by_module[item.location[0]] += calls[0] - before
    return result


def pytest_sessionfinish(session: pytest.Session) -> None:
    path = session.config.getoption(OPTION)
    if path:
        without = sorted(module for module, count in by_module.items() if not count)
        Path(path).write_text("".join(f"{module}\n" for module in without))


sys.meta_path.insert(0, _Finder())
sys.addaudithook(_hear)
