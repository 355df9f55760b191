"""A saved registry in a folder: one JSON file per version, readable, and good to keep in git.

    registry.json                          what was saved: format, global config and mode
    subjects/<subject>/subject.json        name, config and mode of its own, numbers of its versions
    subjects/<subject>/<version>.json      subject, version, id, schemaType, schema, references, …, deleted

Must not know of registries. Files are written whole or not at all; a damaged one is an error that names it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from kserdes.cli.schema.source.files import write_whole
from kserdes.cli.shell.unusable import Unusable

FORMAT = "kserdes-registry/1"
MAX_NAME = 120


def folder_name(subject: str) -> str:
    """A folder's name for a subject: quoted; with a hash where file systems might confuse or refuse it."""
    name = quote(subject, safe=" ").replace(" ", "%20")
    if name == name.lower() and len(name) <= MAX_NAME and not name.startswith("."):
        return name
    return f"{name[:MAX_NAME].replace('.', '%2E', 1)}~{hashlib.sha256(subject.encode()).hexdigest()[:12]}"


class Archive:
    """A folder with a saved registry.

    Args:
        folder: where; made when something is written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def manifest(self) -> dict[str, Any] | None:
        """The content of `registry.json`, None if there is none.

        Raises:
            Unusable: it is damaged, or of another format.
        """
        found = self._read(self.folder / "registry.json")
        if found is not None and found.get("format") != FORMAT:
            raise Unusable(f"{self.folder}: its format is {found.get('format')!r}, not {FORMAT!r}")
        return found

    def write_manifest(self, content: dict[str, Any]) -> None:
        """Writes `registry.json`."""
        self._write(self.folder / "registry.json", {"format": FORMAT, **content})

    def subjects(self) -> Iterator[dict[str, Any]]:
        """Name, config, mode and numbers of the versions of every subject, by name of their folders.

        Raises:
            Unusable: one is damaged or missing.
        """
        for folder in sorted({path.parent for path in self.folder.glob("subjects/*/*.json")}):
            path = folder / "subject.json"
            found = self._read(path)
            if found is None:
                raise Unusable(f"{path} is missing: delete the folder {folder.name} and export again")
            if not isinstance(found.get("subject"), str):
                raise Unusable(f"{path} is damaged: it names no subject")
            yield found

    def write_subject(
        self, subject: str, config: dict[str, Any] | None, mode: str | None, versions: Collection[int]
    ) -> None:
        """Writes what a subject has of its own, and which versions are saved."""
        content = {"subject": subject, "config": config, "mode": mode, "versions": sorted(versions)}
        self._write(self._of(subject) / "subject.json", content)

    def whole(self, entry: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
        """The saved versions of a subject, by number.

        Args:
            entry: what its `subject.json` says; exports of before 2026-11-25 do not say which versions there are.

        Raises:
            Unusable: one is damaged, missing or in another's place.
        """
        subject = str(entry["subject"])
        found = self.versions(subject)
        named = entry.get("versions") or ()
        lost = [str(self._of(subject) / f"{number}.json") for number in named if number not in found]
        if lost:
            one = len(lost) == 1
            raise Unusable(
                f"{', '.join(lost)} {'is' if one else 'are'} missing, though subject.json says that "
                f"{'it was' if one else 'they were'} saved: export again, or take the number out of `versions` there"
            )
        for number, content in found.items():
            if content.get("version", number) != number:
                path = self._of(subject) / f"{number}.json"
                raise Unusable(f"{path} is damaged: it holds version {content['version']}")
        return found

    def versions(self, subject: str) -> dict[int, dict[str, Any]]:
        """The saved versions of a subject, by number.

        Raises:
            Unusable: one is damaged.
        """
        found = {}
        for path in self._of(subject).glob("*.json"):
            if path.stem.isdecimal():
                content = self._read(path)
                if content is None or not isinstance(content.get("schema"), str) or "id" not in content:
                    raise Unusable(f"{path} is damaged: it is not a saved version")
                found[int(path.stem)] = content
        return dict(sorted(found.items()))

    def write_version(self, subject: str, number: int, content: dict[str, Any]) -> None:
        """Writes a version."""
        self._write(self._of(subject) / f"{number}.json", content)

    def drop(self, subject: str, number: int) -> None:
        """Removes a version that the registry has no more."""
        (self._of(subject) / f"{number}.json").unlink(missing_ok=True)

    def drop_subject(self, subject: str) -> None:
        """Removes a subject that the registry has no more."""
        for number in self.versions(subject):
            self.drop(subject, number)
        (self._of(subject) / "subject.json").unlink(missing_ok=True)

    def _of(self, subject: str) -> Path:
        return self.folder / "subjects" / folder_name(subject)

    @staticmethod
    def _read(path: Path) -> dict[str, Any] | None:
        try:
            found = json.loads(path.read_text("utf-8"))
        except FileNotFoundError:
            return None
        except OSError as error:
            raise Unusable(f"{path} can't be read: {error.strerror}") from error
        except ValueError as error:
            raise Unusable(f"{path} is damaged: {error}") from error
        if not isinstance(found, dict):
            raise Unusable(f"{path} is damaged: no JSON object")
        return found

    @staticmethod
    def _write(path: Path, content: dict[str, Any]) -> None:
        text = json.dumps(content, indent=2, ensure_ascii=False, sort_keys=True) + "\n"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text)
        except OSError as error:
            raise Unusable(f"{path} can't be written: {error.strerror}") from error
