"""Schema files of a folder: found, read and decoded with care, since a folder may hold anything.

Must not know what schemas mean. Folders behind symbolic links are not entered, files that lead out of the folder are
not read, sizes are bounded.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Final, Protocol

from kserdes.cli.shell.unusable import Unusable

SUFFIXES = {".avsc": "AVRO", ".json": "JSON", ".proto": "PROTOBUF"}
SKIPPED_FOLDERS = frozenset({"node_modules", "__pycache__", "venv"})
NO_SCHEMAS = ("package.json", "package-lock.json", "tsconfig.json", "tsconfig.*.json")
MAX_FILE_BYTES: Final = 16 * 1024 * 1024
"""The size of the largest schema file that is read."""


def write_whole(path: Path, text: str) -> None:
    """Writes a file so that a crash leaves the old one or the new one, never a part: written beside it, then renamed.

    Raises:
        OSError: it can't be written; the old one is as it was.
    """
    target = Path(os.path.realpath(path))
    if target.exists() and not target.is_file():  # /dev/stdout, a pipe
        target.write_text(text, "utf-8")
        return
    part = target.with_name(f".{target.name[:200]}.{os.getpid()}.{threading.get_ident()}.part")
    try:
        with part.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, part)
        part.replace(target)
    except BaseException:
        part.unlink(missing_ok=True)
        raise


class Tree(Protocol):
    """A set of schema files with paths relative to one root, with `/` between names."""

    @property
    def paths(self) -> Sequence[str]:
        """All schema files, sorted."""

    def read(self, path: str) -> str:
        """The text of one of them.

        Raises:
            Unusable: it can't be read, or is no text.
        """


def matches(path: str, patterns: Sequence[str]) -> bool:
    """Whether a path fits one of the patterns; a pattern without `/` is compared with the file's name alone."""
    name = path.rpartition("/")[2]
    return any(fnmatchcase(path if "/" in pattern else name, pattern) for pattern in patterns)


def is_schema_path(path: str, listed: Sequence[str] = ()) -> bool:
    """Whether a file of this name in a searched folder is taken for a schema: by its suffix, or by a listed pattern."""
    parts = path.split("/")
    if any(part.startswith(".") or part in SKIPPED_FOLDERS for part in parts[:-1]) or parts[-1].startswith("."):
        return False
    if matches(path, listed):
        return True
    return os.path.splitext(parts[-1])[1].lower() in SUFFIXES and not matches(path, NO_SCHEMAS)


def decode(data: bytes) -> str:
    """The text of a file.

    Raises:
        Unusable: it is too large, empty, binary or not UTF-8; with the place where that shows.
    """
    if len(data) > MAX_FILE_BYTES:
        raise too_large(len(data))
    if not data.strip():
        raise Unusable("the file is empty", kind="EMPTY_FILE")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        column = error.start - data.rfind(b"\n", 0, error.start)
        raise Unusable(f"not UTF-8: byte {data[error.start]:#04x}", line, column, "NOT_UTF8") from error
    nul = text.find("\0")
    if nul >= 0:
        line = text.count("\n", 0, nul) + 1
        raise Unusable("a binary file: it has a zero byte", line, nul - text.rfind("\n", 0, nul), "BINARY_FILE")
    return text


def too_large(size: int) -> Unusable:
    """The error for a file that is not read because of its size."""
    return Unusable(f"{size:,} bytes are more than the {MAX_FILE_BYTES:,} a schema may have", kind="FILE_TOO_LARGE")


def shown(path: Path) -> str:
    """A path as a user would write it: relative to the working folder if it is in it."""
    absolute = Path(os.path.abspath(path))
    here = Path.cwd()
    text = (absolute.relative_to(here) if absolute.is_relative_to(here) else absolute).as_posix()
    return text.encode("utf-8", "backslashreplace").decode()


def _unlisted(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError):  # a folder that was deleted meanwhile has no files
        where = shown(Path(error.filename))
        raise Unusable(f"{where} can't be listed: {error.strerror}", kind="UNREADABLE_FILE") from error


class FolderTree:
    """The schema files below a folder of the file system; each is read once, when it is needed.

    Args:
        root: the folder.
        exclude: patterns of paths to leave out.
        listed: patterns of paths that are schema files whatever their suffix.
    """

    def __init__(self, root: Path, exclude: Sequence[str] = (), listed: Sequence[str] = ()) -> None:
        self.root = root
        self._exclude = exclude
        self._listed = listed
        self._real_root = Path(os.path.realpath(root))
        self._texts: dict[str, str | Unusable] = {}

    @cached_property
    def paths(self) -> Sequence[str]:
        """All schema files, sorted.

        Raises:
            Unusable: a folder can't be listed, so that there may be more.
        """
        return sorted(self._walk())

    def _walk(self) -> Iterator[str]:
        for folder, folders, files in os.walk(self.root, onerror=_unlisted, followlinks=False):
            folders[:] = [name for name in folders if not name.startswith(".") and name not in SKIPPED_FOLDERS]
            above = os.path.relpath(folder, self.root)
            prefix = "" if above == "." else above.replace(os.sep, "/") + "/"
            for name in files:
                path = prefix + name
                if is_schema_path(path, self._listed) and not matches(path, self._exclude):
                    yield path

    def __contains__(self, path: str) -> bool:
        return os.path.lexists(self.root / path)

    def read(self, path: str) -> str:
        """The text of a file.

        Raises:
            Unusable: it can't be read, is no text, or leads out of the folder.
        """
        found = self._texts.get(path)
        if found is None:
            try:
                found = self._read(path)
            except Unusable as error:
                found = error
            self._texts[path] = found
        if isinstance(found, Unusable):
            raise found
        return found

    def _read(self, path: str) -> str:
        full = self.root / path
        try:
            real = Path(os.path.realpath(full, strict=True))
            if not real.is_relative_to(self._real_root):
                raise Unusable("the file leads out of the folder: it is not read", kind="OUTSIDE_FOLDER")
            if not real.is_file():
                raise Unusable("not a regular file: it is not read")
            size = real.stat().st_size
            if size > MAX_FILE_BYTES:
                raise too_large(size)
            return decode(real.read_bytes())
        except OSError as error:
            raise Unusable(f"can't be read: {error.strerror or error}", kind="UNREADABLE_FILE") from error
