"""The configuration of `kserdes schema`: `kserdes.toml`, or `[tool.kserdes]` in `pyproject.toml`.

Must not know of commands. A key that does not exist is an error that names the nearest one; paths in the file are
relative to its folder. docs/guide/schema-ci.md describes the keys.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kserdes.cli.shell.unusable import Unusable
from kserdes_base.config.table import did_you_mean

SCHEMA_TYPES = ("AVRO", "JSON", "PROTOBUF")
POLICIES = ("STRICT", "LENIENT")
LEVELS = ("NONE", "BACKWARD", "BACKWARD_TRANSITIVE", "FORWARD", "FORWARD_TRANSITIVE", "FULL", "FULL_TRANSITIVE")
CASES = ("snake", "camel", "any")


@dataclass(frozen=True, slots=True)
class LintSettings:
    """`[lint]`.

    Attributes:
        disable: ids of rules that are off.
        enable: ids of rules that are on, though they are off by default.
        field_case: `snake`, `camel` or `any`.
    """

    disable: tuple[str, ...] = ()
    enable: tuple[str, ...] = ()
    field_case: str = "snake"


@dataclass(frozen=True, slots=True)
class Settings:
    """The keys of the file.

    Attributes:
        origin: the file, None if there is none.
        paths: what is checked if the command line names nothing.
        root: the folder that references are resolved from; None: the folder that is checked.
        exclude: patterns of paths to leave out.
        subject: rule that makes a subject's name of a file.
        subjects: pattern of paths → subject, before the rule.
        types: pattern of paths → schema type, before the suffix.
        level: compatibility level; None: the registry's, else BACKWARD.
        levels: pattern of subjects → level.
        policy: STRICT or LENIENT; None: the registry's, else STRICT.
        registry: URL.
        client: properties of the registry client.
        lint: rules.
    """

    origin: Path | None = None
    paths: tuple[str, ...] = ()
    root: str | None = None
    exclude: tuple[str, ...] = ()
    subject: str = "{stem}"
    subjects: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    level: str | None = None
    levels: Mapping[str, str] = field(default_factory=dict)
    policy: str | None = None
    registry: str | None = None
    client: Mapping[str, Any] = field(default_factory=dict)
    lint: LintSettings = field(default_factory=LintSettings)

    @property
    def folder(self) -> Path:
        """The folder that paths in the file are relative to."""
        return Path.cwd() if self.origin is None else self.origin.parent


def load(path: Path | None = None, start: Path | None = None) -> Settings:
    """Reads the configuration.

    Args:
        path: the file; None to look for one in `start` and the folders above it, up to the repository's top.
        start: where to look; None: the working folder.

    Raises:
        Unusable: the file is not there, is not TOML, or has keys or values it can't have.
    """
    if path is not None:
        table = _table(path)
        if table is None:
            raise Unusable(f"{path} has no [tool.kserdes]", kind="CONFIGURATION")
        return _settings(path, table)
    folder = (start or Path.cwd()).absolute()
    for above in (folder, *folder.parents):
        for name in ("kserdes.toml", "pyproject.toml"):
            candidate = above / name
            table = _table(candidate) if candidate.is_file() else None
            if table is not None:
                return _settings(candidate, table)
        if (above / ".git").exists():
            break
    return Settings()


def _table(path: Path) -> dict[str, Any] | None:
    """The file's part that is ours, None if it has none."""
    try:
        with path.open("rb") as file:
            content = tomllib.load(file)
    except OSError as error:
        raise Unusable(f"{path} can't be read: {error.strerror}", kind="CONFIGURATION") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Unusable(f"{path} is not TOML: {error}", kind="CONFIGURATION") from error
    if path.name != "pyproject.toml":
        return content
    tool = content.get("tool", {})
    found = tool.get("kserdes") if isinstance(tool, dict) else None
    if found is not None and not isinstance(found, dict):
        raise Unusable(f"{path}: tool.kserdes must be a table, not {found!r}", kind="CONFIGURATION")
    return found


def _chosen(value: str, choices: tuple[str, ...]) -> str | None:
    """The choice that is meant, in any case; any text if there are no choices, None if it is none of them."""
    return value if not choices else next((name for name in choices if name.upper() == value.upper()), None)


class _TableReader:
    """Takes typed values out of one table."""

    def __init__(self, path: Path, name: str, table: Mapping[str, Any], known: tuple[str, ...]) -> None:
        self._where = f"{path}: {name}" if name else str(path)
        self._values = table
        for key in table:
            if key not in known:
                hint = did_you_mean(key, known, f"known are {', '.join(known)}")
                raise Unusable(f"{self._where} has an unknown key {key!r}{hint}", kind="CONFIGURATION")

    def wrong(self, key: str, what: str) -> Unusable:
        return Unusable(f"{self._where}: {key} must be {what}, not {self._values[key]!r}", kind="CONFIGURATION")

    def text(self, key: str, choices: tuple[str, ...] = ()) -> str | None:
        value = self._values.get(key)
        if value is None:
            return None
        found = _chosen(value, choices) if isinstance(value, str) else None
        if found is None:
            raise self.wrong(key, f"one of {', '.join(choices)}" if choices else "a string")
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        value = self._values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            raise self.wrong(key, "a list of strings")
        return tuple(value)

    def mapping(self, key: str, choices: tuple[str, ...] = ()) -> dict[str, str]:
        value = self._values.get(key, {})
        if not isinstance(value, dict) or not all(isinstance(item, str) for item in value.values()):
            raise self.wrong(key, "a table of strings")
        found = {}
        for name, item in value.items():
            chosen = _chosen(item, choices)
            if chosen is None:
                raise self.wrong(key, f"a table with values out of {', '.join(choices)}")
            found[name] = chosen
        return found

    def table(self, key: str) -> dict[str, Any]:
        value = self._values.get(key, {})
        if not isinstance(value, dict):
            raise self.wrong(key, "a table")
        return value


def _settings(path: Path, table: Mapping[str, Any]) -> Settings:
    known = tuple(name for name in Settings.__dataclass_fields__ if name != "origin")
    reader = _TableReader(path, "", table, known)
    lint = _TableReader(path, "[lint]", reader.table("lint"), tuple(LintSettings.__dataclass_fields__))
    return Settings(
        origin=path,
        paths=reader.texts("paths"),
        root=reader.text("root"),
        exclude=reader.texts("exclude"),
        subject=reader.text("subject") or "{stem}",
        subjects=reader.mapping("subjects"),
        types=reader.mapping("types", SCHEMA_TYPES),
        level=reader.text("level", LEVELS),
        levels=reader.mapping("levels", LEVELS),
        policy=reader.text("policy", POLICIES),
        registry=reader.text("registry"),
        client=reader.table("client"),
        lint=LintSettings(lint.texts("disable"), lint.texts("enable"), lint.text("field_case", CASES) or "snake"),
    )
