"""`make generate`: writes every generated file again; with `--check` (in `make check`) fails where one differs.

What is made from the kafka-clients jar needs Java and Maven; where they are missing and `KSERDES_REQUIRE` does not name
kafka, those parts are named and left out.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from tools.real_kafka import KafkaUnavailableError, fetch_jars, java

FROM_JAR = ("tools/generate_messages.py", "tools/generate_errors.py")
FROM_TREE = (
    "tools/generate_twins.py",
    "tools/generate_config_docs.py",
    "tools/generate_coverage.py",
    "tools/generate_peers.py",
    "tools/generate_otlp.py",
)


def run(tool: str, arguments: Sequence[str]) -> bool:
    """One generator in a process of its own; whether it was content."""
    module = tool.removesuffix(".py").replace("/", ".")
    return subprocess.run([sys.executable, "-m", module, *arguments], check=False).returncode == 0


def main(argv: Sequence[str]) -> int:
    check = [word for word in argv if word == "--check"]
    content = [run(tool, check) for tool in FROM_TREE]
    try:
        java()
        fetch_jars()  # the generators look where this puts them
    except KafkaUnavailableError as error:
        print(f"NOT {'CHECKED' if check else 'GENERATED'}: {', '.join(FROM_JAR)}: {error}", file=sys.stderr)
        return 1 if "kafka" in os.environ.get("KSERDES_REQUIRE", "") else int(not all(content))
    content += [run(tool, check) for tool in FROM_JAR]
    return int(not all(content))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
