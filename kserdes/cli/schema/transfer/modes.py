"""The modes an import changes: remembered before, put back whatever happens, and named where that fails.

Must not know what is imported. All calls are made on the caller's thread: a thread that Ctrl-C leaves behind could put
a subject into IMPORT mode after it was taken out of it.
"""

from __future__ import annotations

from kserdes.cli.schema.transfer.rest import Rest
from kserdes.cli.shell.unusable import Unusable
from registry import ResponseError, SchemaRegistryError

IMPORT = "IMPORT"


class ImportModes:
    """Modes before they were changed; use it in a `with` statement, which puts back those that nobody settled.

    Args:
        rest: the registry.

    Attributes:
        left: subjects (None: the registry as a whole) whose mode could not be put back, with the mode they had.
    """

    def __init__(self, rest: Rest) -> None:
        self._rest = rest
        self._before: dict[str | None, str | None] = {}
        self._proved = False
        self.left: dict[str | None, str | None] = {}

    def __enter__(self) -> ImportModes:
        return self

    def __exit__(self, *error: object) -> None:
        self.left = dict(self._before)
        for scope in list(self._before):
            try:
                self.settle(scope, self._before[scope])
            except ResponseError:
                continue  # the others may be put back
            except SchemaRegistryError:
                break  # nobody answers
            del self.left[scope]
        if self.left and error[1] is None:
            raise Unusable(self.unsettled() or "", kind="REGISTRY")

    def enter(self, scope: str | None, mode: str = IMPORT) -> None:
        """Sets a mode, and remembers what was before.

        Raises:
            Unusable: the registry has no modes, or takes the call and does nothing.
            ResponseError: it refuses.
        """
        if scope not in self._before:
            self._before[scope] = self._mode(scope)
        self._rest.set_mode(scope, mode)
        if not self._proved:
            if self._mode(scope) != mode:
                raise Unusable(f"{self._rest} has no {mode} mode: ids and versions can't be kept there")
            self._proved = True

    def settle(self, scope: str | None, mode: str | None) -> None:
        """Sets a scope's final mode; with None the scope has the mode of the scope around it."""
        if mode is not None:
            self._rest.set_mode(scope, mode)
        elif scope is not None:
            self._rest.delete_mode(scope)
        self._before.pop(scope, None)

    def entered(self, scope: str | None) -> bool:
        """Whether a scope's mode was changed here and not settled yet."""
        return scope in self._before

    def before(self, scope: str | None) -> str | None:
        """The mode a scope had when this began."""
        return self._before[scope] if scope in self._before else self._mode(scope)

    def unsettled(self) -> str | None:
        """Scopes whose mode was not restored, and how to restore it; None if there are none."""
        if not self.left:
            return None
        lines = [
            f"{'the registry' if scope is None else scope} (was {was or 'unset'})" for scope, was in self.left.items()
        ]
        return (
            f"these may be left in {IMPORT} mode at {self._rest}: {', '.join(lines)}. Run the import again, it settles"
            f' them; or take them out: DELETE /mode/SUBJECT, or PUT /mode/SUBJECT {{"mode": "…"}} where one was set'
        )

    def _mode(self, scope: str | None) -> str | None:
        return (self._rest.setting("mode", scope) or {}).get("mode")
