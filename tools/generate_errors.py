"""Writes kafka_core/error_codes.py: broker codes from a released kafka-clients jar, local codes from confluent_kafka.

Carries over facts only (names, numbers, retriable, refresh-metadata); the texts are made from the names by this tool.
Truth: org.apache.kafka.common.protocol.Errors and the constants of confluent_kafka.KafkaError.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from tools.real_kafka import DEFAULT_VERSION, fetch_jars, java

ROOT = Path(__file__).resolve().parent.parent
TARGET = ROOT / "kafka_core" / "error_codes.py"

PROGRAM = """
import org.apache.kafka.common.errors.InvalidMetadataException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.protocol.Errors;

public class ListErrors {
    public static void main(String[] arguments) {
        for (Errors error : Errors.values()) {
            Exception exception = error.exception();
            System.out.println(error.code() + " " + error.name()
                + " " + (exception instanceof RetriableException)
                + " " + (exception instanceof InvalidMetadataException));
        }
    }
}
"""

# Words a reader should not have to decode, and words that keep their capitals.
SPELLED_OUT = {
    "arg": "argument",
    "crit": "critical",
    "fs": "file system",
    "insuff": "insufficient",
    "isr": "in-sync replicas",
    "msg": "message",
    "noent": "no such entry",
    "noop": "no operation",
    "sys": "system",
    "txn": "transaction",
    "auth": "authentication",
    "intr": "interrupted",
    "coord": "coordinator",
    "prev": "previous",
    "inflight": "in flight",
}
CAPITALS = {"eof": "EOF", "id": "ID", "sasl": "SASL", "ssl": "TLS"}
# Where the name alone would mislead: what the code means, in our words.
SPECIAL_TEXTS = {
    -199: "Local: Malformed message",
    -198: "Local: Compression unknown or compressed data damaged",
    -197: "Local: Client is being closed",
    -196: "Local: Communication with broker failed",
    -195: "Local: Connection to broker failed or was lost",
    -194: "Local: Out of a critical system resource",
    -193: "Local: Host name could not be resolved",
    -192: "Local: Message not delivered within message.timeout.ms",
    -191: "Local: End of partition",
    -189: "Local: File or file system error",
    -187: "Local: No broker can be reached",
    -183: "Local: Too few in-sync replicas",
    -182: "Local: Broker's address changed",
    -181: "Local: TLS error",
    -180: "Local: Waiting for the coordinator",
    -178: "Local: Operation in progress",
    -177: "Local: Previous operation still in progress",
    -176: "Local: There is a subscription already",
    -175: "Local: Partitions are to be assigned",
    -174: "Local: Partitions are to be revoked",
    -173: "Local: Conflicts with another use",
    -172: "Local: Wrong state for this call",
    -169: "Local: Authentication failed",
    -168: "Local: No offset is stored",
    -166: "Local: Timed out before it could be sent",
    -165: "Local: Broker lacks a required feature",
    -164: "Local: Waiting for a cache",
    -163: "Local: Interrupted",
    -162: "Local: Key could not be serialized",
    -161: "Local: Value could not be serialized",
    -160: "Local: Key could not be deserialized",
    -159: "Local: Value could not be deserialized",
    -158: "Local: Response is incomplete",
    -157: "Local: Object can't be changed",
    -156: "Local: No such entry",
    -155: "Local: Data ends too early",
    -153: "Local: Try again",
    -152: "Local: Purged while queued",
    -151: "Local: Purged while in flight",
    -150: "Local: Fatal error",
    -149: "Local: Inconsistent state",
    -148: "Local: Order without gaps can't be kept",
    -147: "Local: Application did not poll within max.poll.interval.ms",
    -144: "Local: Fenced by a newer instance",
    -143: "Local: Error of the application",
    -142: "Local: Assignment lost to other members of the group",
    -141: "Local: Nothing to do",
    -140: "Local: No offset to go on from, and auto.offset.reset is 'error'",
    -139: "Local: Log was truncated",
    -138: "Local: An invalid record in the same batch",
    -137: "Local: Broker was removed",
    -1: "Broker: Unknown server error",
    0: "Success",
}


@dataclass(frozen=True, slots=True)
class Row:
    """One code: `name` is the constant's spelling, `text` the standing description."""

    code: int
    name: str
    text: str
    retriable: bool = False
    refresh_metadata: bool = False


def broker_errors(jar_folder: Path, version: str = DEFAULT_VERSION) -> list[tuple[int, str, bool, bool]]:
    """(code, Java name, retriable, refresh metadata) of every code the released client knows."""
    jars = [jar_folder / f"kafka-clients-{version}.jar", *jar_folder.glob("slf4j-api-*.jar")]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "ListErrors.java"
        source.write_text(PROGRAM)
        command = [java(), "-cp", ":".join(map(str, jars)), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    rows = (line.split() for line in done.stdout.splitlines() if line.strip())
    return [(int(code), name, retriable == "true", refresh == "true") for code, name, retriable, refresh in rows]


def reference_constants() -> dict[int, str]:
    """code -> constant name, as the installed confluent_kafka.KafkaError spells it."""
    from confluent_kafka import KafkaError

    values = {name: getattr(KafkaError, name) for name in dir(KafkaError) if name.strip("_").isupper()}
    names = {code: name for name, code in values.items() if isinstance(code, int)}
    wrong = [name for code, name in names.items() if KafkaError(code).name() != name]
    if wrong:
        raise RuntimeError(f"constants that KafkaError.name() does not give back: {', '.join(wrong)}")
    return names


def describe(code: int, name: str) -> str:
    """`UNKNOWN_TOPIC_ID` -> `Broker: Unknown topic ID`; local codes begin with `Local:`."""
    if code in SPECIAL_TEXTS:
        return SPECIAL_TEXTS[code]
    words = [SPELLED_OUT.get(word, word) for word in name.strip("_").lower().split("_")]
    sentence = " ".join([words[0][0].upper() + words[0][1:], *words[1:]])
    sentence = " ".join(CAPITALS.get(word.lower(), word) for word in sentence.split(" "))
    return f"{'Local' if code < -1 else 'Broker'}: {sentence}"


def rows(jar_folder: Path) -> list[Row]:
    """All codes in ascending order: librdkafka's spelling where it has one, else the Java name."""
    spelled = reference_constants()
    local = [Row(code, name, describe(code, name)) for code, name in spelled.items() if code < -1]
    broker = [
        Row(code, spelled.get(code, java_name), describe(code, java_name), retriable, refresh)
        for code, java_name, retriable, refresh in broker_errors(jar_folder)
    ]
    missing = set(spelled) - {row.code for row in (*local, *broker)}
    if missing:
        raise RuntimeError(f"confluent_kafka knows codes this Kafka version does not: {sorted(missing)}")
    return sorted((*local, *broker), key=lambda row: row.code)


def render(table: list[Row]) -> str:
    """The text of error_codes.py."""
    lines = [
        "# Written by tools/generate_errors.py; do not edit.",
        '"""Error codes of brokers and of the client itself, with what the Java client thinks about each.',
        "",
        "Knows nothing of exceptions.",
        "Truth: org.apache.kafka.common.protocol.Errors; names as confluent_kafka.KafkaError has them.",
        '"""',
        "",
        "from typing import Final, NamedTuple",
        "",
        "",
        "class ErrorFacts(NamedTuple):",
        '    """What is known of one code: constant name, standing text, and what a client may do about it."""',
        "",
        "    name: str",
        "    text: str",
        "    retriable: bool",
        "    refresh_metadata: bool",
        "",
        "",
        "class ErrorCodes:",
        '    """One constant per code: negative ones are made by the client, others come from a broker."""',
        "",
        *(f"    {row.name}: Final = {row.code}" for row in table),
        "",
        "",
        "ROWS: Final[list[tuple[int, str, str, bool, bool]]] = [",
    ]
    lines.extend(
        f'    ({row.code}, "{row.name}", "{row.text}", {row.retriable}, {row.refresh_metadata}),' for row in table
    )
    lines += ["]", "", "FACTS: Final[dict[int, ErrorFacts]] = {row[0]: ErrorFacts(*row[1:]) for row in ROWS}", ""]
    return "\n".join(lines)


def main(arguments: list[str] | None = None) -> int:
    """Command line; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--jars", type=Path, help="folder with kafka-clients (default: the cache, filled by Maven)")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if the committed file differs")
    options = parser.parse_args(arguments)
    text = render(rows(options.jars or fetch_jars()))
    current = TARGET.read_text() if TARGET.exists() else ""
    if options.check:
        if text != current:
            print(f"{TARGET.relative_to(ROOT)} is not what tools/generate_errors.py writes", file=sys.stderr)
        return int(text != current)
    TARGET.write_text(text)
    print(f"{TARGET.relative_to(ROOT)}: {'unchanged' if text == current else 'written'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
