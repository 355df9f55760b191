"""The wheel that is given to others: built as `pip wheel` builds it, packed tighter, looked through before it counts.

`make wheel` puts it into dist/. The same sources give the same file: entries are sorted and have one date. What is in
it is what the build wrote, byte for byte; only deflate is done with more care (Zopfli), and any unpacker reads it.
"""

from __future__ import annotations

import argparse
import base64
import csv
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path
from typing import Final

import zopfli

ROOT: Final = Path(__file__).resolve().parent.parent
DATE: Final = (2020, 1, 1, 0, 0, 0)
MOST_BYTES: Final = 6_000_000
"""More than this is refused: what grows must be meant to (docs/decisions/0084)."""
SOURCES: Final = (".c", ".pyx", ".pxd", ".pxi", ".h")


class WheelError(Exception):
    """The wheel is not as it must be; the text says what is wrong with it."""


def build(folder: Path, project: Path = ROOT) -> Path:
    """A wheel of the project, with compiled kernels or not at all.

    Raises:
        WheelError: it could not be built; the text is the build's last lines.
    """
    command = [sys.executable, "setup.py", "-q", "bdist_wheel", "-d", str(folder)]
    done = subprocess.run(
        command, cwd=project, capture_output=True, text=True, env=os.environ | {"KSERDES_REQUIRE_NATIVE": "1"}
    )
    found = list(folder.glob("*.whl"))
    if done.returncode or len(found) != 1:
        raise WheelError("\n".join(["the build gave no wheel:", *done.stderr.splitlines()[-20:]]))
    return found[0]


def repack(source: Path, target: Path) -> None:
    """Writes the same entries as `source` has, sorted, the metadata last, as small as deflate can be."""
    with zipfile.ZipFile(source) as given, zopfli.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for entry in sorted(given.infolist(), key=lambda entry: (".dist-info/" in entry.filename, entry.filename)):
            written = zipfile.ZipInfo(entry.filename, DATE)
            written.external_attr = entry.external_attr
            written.compress_type = zipfile.ZIP_DEFLATED
            packed.writestr(written, given.read(entry))


def checked(path: Path) -> Path:
    """The wheel, if each of its files is what its RECORD says, no source of a kernel is among them, and it is small.

    Raises:
        WheelError: otherwise.
    """
    with zipfile.ZipFile(path) as held:
        names = held.namelist()
        (record,) = (name for name in names if name.endswith(".dist-info/RECORD"))
        recorded = {name: digest for name, digest, _ in csv.reader(held.read(record).decode().splitlines())}
        if sorted(recorded) != sorted(names):
            raise WheelError(f"{path.name}: RECORD and files differ: {sorted(set(recorded) ^ set(names))}")
        for name in names:
            digest = base64.urlsafe_b64encode(hashlib.sha256(held.read(name)).digest()).rstrip(b"=").decode()
            if name != record and recorded[name] != f"sha256={digest}":
                raise WheelError(f"{path.name}: {name} is not what RECORD says")
    sources = [name for name in names if name.endswith(SOURCES)]
    if sources:
        raise WheelError(f"{path.name}: sources of kernels are in it: {sources}")
    size = path.stat().st_size
    if size > MOST_BYTES:
        raise WheelError(f"{path.name}: {size:,} bytes, {MOST_BYTES:,} at most; look at what has grown")
    return path


def main() -> None:
    """`make wheel`."""
    options = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    options.add_argument("--into", type=Path, default=ROOT / "dist", help="the folder of the wheel (dist)")
    into: Path = options.parse_args().into
    into.mkdir(parents=True, exist_ok=True)
    try:
        with tempfile.TemporaryDirectory() as folder:
            built = build(Path(folder))
            before = built.stat().st_size
            target = into / built.name
            target.unlink(missing_ok=True)
            repack(built, target)
        path = checked(target)
    except WheelError as error:
        sys.exit(f"make wheel: {error}")
    print(f"{path}: {path.stat().st_size:,} bytes ({before:,} as it was built)")


if __name__ == "__main__":
    main()
