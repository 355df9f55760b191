"""Writes kafka_core/error_codes.py: broker codes from a released kafka-clients jar, local codes from confluent_kafka.

Carries over facts only (names, numbers, retriable, refresh-metadata); the texts are confluent_kafka's short ones, or
made from the names by this tool.
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
LONGEST = 120  # characters of a line
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
# Texts that programs compare with: confluent_kafka's for a code. Where it has a whole sentence the name does.
SPECIAL_TEXTS = {
    -199: "Local: Bad message format",
    -198: "Local: Invalid compressed data",
    -197: "Local: Broker handle destroyed for termination",
    -196: "Local: Communication failure with broker",
    -195: "Local: Broker transport failure",
    -194: "Local: Critical system resource failure",
    -193: "Local: Host resolution failure",
    -192: "Local: Message timed out",
    -191: "Broker: No more messages",
    -189: "Local: File or filesystem error",
    -187: "Local: All broker connections are down",
    -186: "Local: Invalid argument or configuration",
    -183: "Local: ISR count insufficient",
    -182: "Local: Broker node update",
    -181: "Local: SSL error",
    -180: "Local: Waiting for coordinator",
    -178: "Local: Operation in progress",
    -177: "Local: Previous operation in progress",
    -176: "Local: Existing subscription",
    -175: "Local: Assign partitions",
    -174: "Local: Revoke partitions",
    -173: "Local: Conflicting use",
    -172: "Local: Erroneous state",
    -169: "Local: Authentication failure",
    -168: "Local: No offset stored",
    -166: "Local: Timed out in queue",
    -165: "Local: Required feature not supported by broker",
    -164: "Local: Awaiting cache update",
    -163: "Local: Operation interrupted",
    -162: "Local: Key serialization error",
    -161: "Local: Value serialization error",
    -160: "Local: Key deserialization error",
    -159: "Local: Value deserialization error",
    -158: "Local: Partial response",
    -157: "Local: Read-only object",
    -156: "Local: No such entry",
    -155: "Local: Read underflow",
    -153: "Local: Retry operation",
    -152: "Local: Purged in queue",
    -151: "Local: Purged in flight",
    -150: "Local: Fatal error",
    -149: "Local: Inconsistent state",
    -148: "Local: Gap-less ordering would not be guaranteed if proceeding",
    -147: "Local: Maximum application poll interval (max.poll.interval.ms) exceeded",
    -145: "Local: Functionality not configured",
    -144: "Local: Fenced by a newer instance",
    -143: "Local: Application generated error",
    -142: "Local: Group partition assignment lost",
    -141: "Local: No operation performed",
    -140: "Local: No offset to automatically reset to",
    -139: "Local: Partition log truncation detected",
    -138: "Local: An invalid record in the same batch",
    -137: "Local: Broker handle destroyed without termination",
    -1: "Unknown broker error",
    0: "Success",
    2: "Broker: Invalid message",
    4: "Broker: Invalid message size",
    6: "Broker: Not leader for partition",
    10: "Broker: Message size too large",
    11: "Broker: StaleControllerEpochCode",
    12: "Broker: Offset metadata string too large",
    13: "Broker: Broker disconnected before response received",
    17: "Broker: Invalid topic",
    18: "Broker: Message batch larger than configured server segment size",
    19: "Broker: Not enough in-sync replicas",
    20: "Broker: Message(s) written to insufficient number of in-sync replicas",
    21: "Broker: Invalid required acks value",
    22: "Broker: Specified group generation id is not valid",
    24: "Broker: Invalid group.id",
    25: "Broker: Unknown member",
    27: "Broker: Group rebalance in progress",
    28: "Broker: Commit offset data size is not valid",
    34: "Broker: Request not valid in current SASL state",
    35: "Broker: API version not supported",
    37: "Broker: Invalid number of partitions",
    40: "Broker: Configuration is invalid",
    41: "Broker: Not controller for cluster",
    43: "Broker: Message format on broker does not support request",
    45: "Broker: Broker received an out of order sequence number",
    46: "Broker: Broker received a duplicate sequence number",
    47: "Broker: Producer attempted an operation with an old epoch",
    53: "Broker: Transactional Id authorization failed",
    54: "Broker: Security features are disabled",
    58: "Broker: SASL Authentication failed",
    59: "Broker: Unknown Producer Id",
    60: "Broker: Partition reassignment is in progress",
    61: "Broker: Delegation Token feature is not enabled",
    62: "Broker: Delegation Token is not found on server",
    63: "Broker: Specified Principal is not valid Owner/Renewer",
    65: "Broker: Delegation Token authorization failed",
    66: "Broker: Delegation Token is expired",
    67: "Broker: Supplied principalType is not supported",
    68: "Broker: The group is not empty",
    69: "Broker: The group id does not exist",
    70: "Broker: The fetch session ID was not found",
    71: "Broker: The fetch session epoch is invalid",
    72: "Broker: No matching listener",
    73: "Broker: Topic deletion is disabled",
    74: "Broker: Leader epoch is older than broker epoch",
    75: "Broker: Leader epoch is newer than broker epoch",
    77: "Broker: Broker epoch has changed",
    78: "Broker: Leader high watermark is not caught up",
    79: "Broker: Group member needs a valid member ID",
    80: "Broker: Preferred leader was not available",
    81: "Broker: Consumer group has reached maximum size",
    83: "Broker: Eligible partition leaders are not available",
    84: "Broker: Leader election not needed for topic partition",
    85: "Broker: No partition reassignment is in progress",
    87: "Broker: Broker failed to validate record",
    89: "Broker: Throttling quota has been exceeded",
    92: "Broker: Request illegally referred to the same resource twice",
    93: "Broker: Requested credential would not meet criteria for acceptability",
    97: "Broker: Request principal deserialization failed during forwarding",
    100: "Broker: Unknown topic id",
    113: "Broker: The member epoch is stale",
    115: "Broker: This endpoint type is not supported yet",
    116: "Broker: This controller ID is not known",
    120: "Broker: The server encountered an error with the transaction",
    121: "Broker: The record state is invalid",
    122: "Broker: The share session was not found",
    123: "Broker: The share session epoch is invalid",
    124: "Broker: The share-group state epoch did not match",
    128: "Broker: The regular expression is not valid",
    130: "Broker: The supplied topology is invalid",
    131: "Broker: The supplied topology epoch is invalid",
    132: "Broker: The supplied topology epoch is outdated",
    133: "Broker: The limit of share sessions has been reached",
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
    for row in table:
        values = [str(row.code), f'"{row.name}"', f'"{row.text}"', str(row.retriable), str(row.refresh_metadata)]
        line = f"    ({', '.join(values)}),"
        lines += [line] if len(line) <= LONGEST else ["    (", *(f"        {value}," for value in values), "    ),"]
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
