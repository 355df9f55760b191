"""Tables of properties: a name is found or refused with the nearest one, a whole configuration is read.

Knows no property and no package; how a value is read is in `reading`. docs/configuration.md is generated from tables.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, Generic, TypeVar

from kserdes_base.config.errors import PropertyError, PropertyTypeError
from kserdes_base.config.properties import Property
from kserdes_base.config.reading import value_of

LIKENESS: Final = 0.6
"""The least likeness, from 0 to 1, of two names for one to be suggested for the other."""
LONGEST_NAME: Final = 100
"""Characters of a name that is looked at: comparing takes time that grows with their square."""

MOST_NAMES: Final = 10
"""Unknown names that one sentence has."""

Row = TypeVar("Row", bound=Property)


class Table(Generic[Row]):
    """The properties of one kind of configuration.

    Args:
        rows: the properties; no name or alias twice.
        unknown: how the refusal of an unknown name begins, `{}` stands for the name; by default as confluent_kafka's
            registry client and serializers say it.
        elsewhere: names that users of other clients try → what to do instead.
        note: what is worth saying of a row that is suggested for an unknown name.
        none_is_default: None stands for the default, of every property.

    Attributes:
        rows: as given.
        by_name: every name, aliases included → its row.
    """

    def __init__(
        self,
        rows: Iterable[Row],
        *,
        unknown: str = "Unrecognized properties: {}",
        elsewhere: Mapping[str, str] | None = None,
        note: Callable[[Row], str] = lambda row: "",
        none_is_default: bool = False,
    ) -> None:
        self.rows: Final = tuple(rows)
        self.by_name: Final = {name: row for row in self.rows for name in (row.name, *row.aliases)}
        self._unknown = unknown
        self._elsewhere = elsewhere or {}
        self._note = note
        self._none_is_default = none_is_default

    def find(self, name: object) -> Row:
        """The row of a property by any of its names.

        Raises:
            PropertyError: there is none; the text has the nearest name.
        """
        if not isinstance(name, str):
            raise PropertyTypeError(f"names of properties are text, not {type(name).__name__}")
        row = self.by_name.get(name)
        if row is not None:
            return row
        advice, near = self._advice(name)
        raise PropertyError(
            self._unknown.format(name[:LONGEST_NAME]) + (advice and f"; {advice}"), property=name, nearest=near
        )

    def check_names(self, names: Iterable[object]) -> None:
        """Refuses several unknown names in one sentence; `find` does one.

        Raises:
            PropertyError: there are several; the text has all of them, with the nearest name of each.
        """
        unknown = [name for name in names if isinstance(name, str) and name not in self.by_name]
        if len(unknown) < 2:
            return
        shown = [name[:LONGEST_NAME] for name in unknown[:MOST_NAMES]]
        found = [self._advice(name) for name in unknown[:MOST_NAMES]]
        advices = "".join(f"; {name}: {advice}" for name, (advice, _) in zip(shown, found, strict=True) if advice)
        more = f" and {len(unknown) - MOST_NAMES} more" if len(unknown) > MOST_NAMES else ""
        between = '", "' if '"{}"' in self._unknown else ", "
        text = self._unknown.format(between.join(shown)) + more + advices
        raise PropertyError(text, property=unknown[0], nearest=found[0][1])

    def _advice(self, name: str) -> tuple[str, str | None]:
        """Advice about an unknown name, and the known name most like it."""
        elsewhere = self._elsewhere.get(name)
        if elsewhere is not None:
            return elsewhere, None
        near = nearest(name, self.by_name)
        return ("" if near is None else f"did you mean {near!r}{self._note(self.by_name[near])}?"), near

    def read(self, conf: Mapping[str, object]) -> dict[str, Any]:
        """All properties by name, defaults filled in.

        Raises:
            PropertyError: unknown names, or a value that is ill-typed or out of range.
        """
        self.check_names(conf)
        values = {row.name: row.default for row in self.rows}
        for name, raw in conf.items():
            row = self.find(name)
            value = None if raw is None and self._none_is_default else value_of(row, raw, name)
            values[row.name] = row.default if value is None else value
        return values


def nearest(name: str, names: Iterable[str]) -> str | None:
    """The name that is most like an unknown one, in whatever case and with `_` for `.`; None if none is like it."""
    import difflib  # only where a name is wrong: it takes a millisecond to import

    folded = {_folded(known): known for known in names}
    near = difflib.get_close_matches(_folded(name[:LONGEST_NAME]), folded, n=1, cutoff=LIKENESS)
    return folded[near[0]] if near else None


def did_you_mean(name: str, names: Iterable[str], otherwise: str = "") -> str:
    """The end of a sentence that refuses a name: the nearest one, or `otherwise` if none is like it."""
    near = nearest(name, names)
    if near is not None:
        return f"; did you mean {near!r}?"
    return f"; {otherwise}" if otherwise else ""


def _folded(name: str) -> str:
    return name.lower().replace("_", ".")
