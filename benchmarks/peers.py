"""Libraries that only benchmarks of codecs need, in an environment of their own (`.venv-peers`), made at first use.

They are versions of `constraints.txt`. Whatever this environment has too is taken from here, so that both sides use one
pyarrow and one protobuf.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".venv-peers"
PEERS = ("cavro", "protarrow", "ptars")


def add_peers() -> None:
    """Makes `PEERS` importable; those that can't be installed are left out of the tables."""
    python, done = FOLDER / "bin" / "python", FOLDER / "installed"
    if not done.exists():
        venv.create(FOLDER, with_pip=True)
        pip = [str(python), "-m", "pip", "install", "-q", "-c", str(ROOT / "constraints.txt")]
        for peer in PEERS:
            subprocess.run([*pip, peer], check=False)
        done.touch()
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    sys.path.append(str(FOLDER / "lib" / version / "site-packages"))
