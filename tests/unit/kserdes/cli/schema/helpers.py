"""Shared by the tests of the command line: schemas on disk, git repositories, and commands run in process."""

from __future__ import annotations

import contextlib
import http.server
import json
import subprocess
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from kserdes.cli.schema.group import schema
from kserdes.cli.schema.source.files import FolderTree
from kserdes.cli.schema.source.inputs import HERE, type_by
from kserdes.cli.schema.source.linking import Collection
from kserdes.cli.shell.settings import Settings


def write(folder: Path, files: Mapping[str, object]) -> Path:
    """Writes files below a folder: bytes and texts as they are, anything else as JSON."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
    return folder


def record(name: str, *fields: object, **more: object) -> dict[str, object]:
    """An Avro record; a field that is a text `name:type` is written out."""
    made = []
    for field in fields:
        if isinstance(field, str):
            field_name, _, kind = field.partition(":")
            made.append({"name": field_name, "type": kind})
        else:
            made.append(field)  # type: ignore[arg-type]
    return {"type": "record", "name": name, "fields": made, **more}


def git(folder: Path, *arguments: str) -> str:
    """Runs git in a folder, as nobody in particular."""
    names = ["-c", "user.email=a@example.com", "-c", "user.name=a", "-c", "commit.gpgsign=false"]
    done = subprocess.run(["git", *names, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def repository(folder: Path, files: Mapping[str, object]) -> Path:
    """A git repository on branch main with one commit."""
    folder.mkdir(parents=True, exist_ok=True)
    git(folder, "init", "-q", "-b", "main", ".")
    write(folder, files)
    return commit(folder)


def commit(folder: Path) -> Path:
    """Commits everything."""
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "-m", "change")
    return folder


def run(*arguments: object, given: str | None = None) -> Result:
    """Runs `kserdes schema …` in this process."""
    return CliRunner().invoke(schema, [str(item) for item in arguments], input=given, catch_exceptions=False)


def run_json(*arguments: object) -> Any:
    """The JSON that a command prints."""
    return json.loads(run(*arguments, "--format", "json").stdout)


def collection(folder: Path, types: Mapping[str, str] | None = None) -> Collection:
    """The schema files of a folder."""
    return Collection(FolderTree(folder), HERE, type_by(Settings(types=types or {})))


@contextlib.contextmanager
def answering(status: int, body: bytes, **headers: str) -> Iterator[str]:
    """The URL of an HTTP server that gives everybody the same answer."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            self.send_response(status)
            for name, value in {"content_length": str(len(body)), **headers}.items():
                self.send_header(name.replace("_", "-"), value)
            self.end_headers()
            self.wfile.write(body)

        do_POST = do_PUT = do_DELETE = do_GET

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def lines_of(text: str, words: Sequence[str]) -> list[int]:
    """The line of the first occurrence of each word, from 1."""
    return [text[: text.index(word)].count("\n") + 1 for word in words]
