"""Rows whose schemas have rules: through the deserializer of their format, one by one, then into columns as all others.

Slow and right: domain and migration rules and decryption are those of `serdes.rules`. Runs on executors, which reach
the registry (and key services) themselves. Must not know of Spark.
"""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from pipeline.columns.modes import Fault, RowCode
from pipeline.columns.objects import Objects, Resolve
from pipeline.columns.references import resolved
from pipeline.columns.resolver import Snapshot, SnapshotResolver, bare, client_of
from pipeline.errors import LookupFailedError
from registry import Schema, SchemaRegistryError
from serdes.columnar.frames import frames_of
from serdes.context import MessageField, SerializationContext
from serdes.errors import SerializationError
from serdes.formats.protobuf.codec import index_path
from serdes.frames.framing import frame_prefix, pack_indexes, prefix_size, unpack_indexes
from serdes.frames.schema_id import KEY_HEADER, VALUE_HEADER

if TYPE_CHECKING:
    from pipeline.columns.plan import DecodePlan


class RuledRows:
    """Runs rules over the rows of one subject, and frames what comes out anew, as the decoder of columns reads it.

    Args:
        plan: of the column.
        snapshot: the subject's schemas.
        resolver: gives schemas that references stand for.
    """

    def __init__(self, plan: DecodePlan, snapshot: Snapshot, resolver: SnapshotResolver) -> None:
        self._plan = plan
        self._snapshot = snapshot
        self._resolver = resolver
        self._lock = threading.Lock()
        self._deserializer: Callable[[bytes, SerializationContext], Any] | None = None
        self._written: dict[int | bytes | None, _Written] = {}
        schemas = snapshot.schemas.values()
        self._migrating = snapshot.newest and any(
            schema.rule_set is not None and schema.rule_set.migration_rules for schema in schemas
        )

    def run(self, frames: pa.Array, ids: pa.Array | None) -> tuple[pa.Array, pa.Array | None, Sequence[Fault]]:
        """Frames of what the rules gave; null where a row is bad.

        Raises:
            LookupFailedError: the registry or a key service can't be reached.
        """
        with self._lock:  # made at the first row: clients are of the executor
            if self._deserializer is None:
                self._deserializer = self._made()
        names = frames_of(frames, ids)
        headers = [None] * len(frames) if ids is None else ids.to_pylist()
        made: list[bytes | None] = []
        faults = []
        for row, frame in enumerate(frames.to_pylist()):
            value = None
            if frame is not None:
                name = names.name_of(row)
                try:
                    value = self._row(frame, headers[row], name)
                except SerializationError as error:
                    faults.append(self._fault(row, error, name))
            made.append(value)
        return pa.array(made, pa.binary()), None, faults

    def _row(self, frame: bytes, header: bytes | None, name: int | bytes | None) -> bytes:
        assert self._deserializer is not None
        header_name = KEY_HEADER if self._plan.field == "key" else VALUE_HEADER
        headers = None if header is None else [(header_name, header)]
        topic = self._plan.topic or self._snapshot.subject
        context = SerializationContext(topic, MessageField(self._plan.field), headers)
        try:
            value = self._deserializer(frame, context)
        except SerializationError as error:
            if error.registry_away:
                raise LookupFailedError(f"a payload's rules need a service that is away: {error}") from error
            raise
        return self._again(None if self._migrating else name).frame(value, frame, header is not None)

    def _made(self) -> Any:
        """The deserializer of the format; with migrations it reads as the newest version, else as what was written."""
        client = client_of(self._snapshot.registry)
        subject = self._snapshot.subject
        conf: dict[str, Any] = {"subject.name.strategy": lambda ctx, name: subject}
        if self._migrating:
            conf["use.latest.version"] = True
        rule_conf = resolved(self._plan.rule_conf)
        kind = self._snapshot.reader.schema_type
        if kind == "AVRO":
            from serdes.avro import AvroDeserializer

            return AvroDeserializer(client, conf=conf, rule_conf=rule_conf)
        if kind == "JSON":
            from serdes.json_schema import JSONDeserializer

            return JSONDeserializer(None, None, client, conf, rule_conf)
        from serdes.protobuf import ProtobufDeserializer

        return ProtobufDeserializer(None, conf, client, rule_conf)

    def _again(self, name: int | bytes | None) -> _Written:
        """What writes values with the schema of this id or GUID; with the reader's for None."""
        found = self._written.get(name)
        if found is None:
            if name is None:
                schema = self._snapshot.reader
            else:
                schema = (
                    self._resolver(name) if isinstance(name, int) else self._resolver.guid(str(uuid.UUID(bytes=name)))
                )
            schema_id = name if isinstance(name, int) else self._resolver.adopt(schema)
            found = _Written(schema, self._resolver.reference, frame_prefix(schema_id), of_writer=name is not None)
            self._written[name] = found
        return found

    def _fault(self, row: int, error: SerializationError, name: int | bytes | None) -> Fault:
        known = name if isinstance(name, int) else None
        if name is None:
            code = RowCode.NOT_FRAMED
        elif isinstance(error.__cause__, SchemaRegistryError):
            code = RowCode.UNKNOWN_SCHEMA
        else:
            code = RowCode.RULE_FAILED
        return Fault(row, code, error.reason, error.schema_id or known, error.path)


class _Written:
    """Frames of one schema, of values that rules have run over.

    Args:
        schema: of the values.
        resolve: gives the schema behind a reference.
        prefix: names the schema.
        of_writer: the values were written with this schema, so that one no rule has changed keeps its payload.
    """

    def __init__(self, schema: Schema, resolve: Resolve, prefix: bytes, *, of_writer: bool) -> None:
        self._objects = Objects(bare(schema), resolve)
        self._prefix = prefix
        self._indexed = schema.schema_type == "PROTOBUF"
        encrypted = schema.rule_set is not None and schema.rule_set.encoding_rules
        self._keeps = of_writer and not encrypted

    def frame(self, value: Any, given: bytes, headed: bool) -> bytes:
        """The frame of a value.

        Args:
            value: as the rules have left it.
            given: the frame it was in.
            headed: that frame is a payload alone.

        Raises:
            SerializationError: a value of a union would be of another branch.
        """
        made = self._objects.write(value)
        indexes = pack_indexes(index_path(value.DESCRIPTOR), True) if self._indexed else b""
        if self._keeps:
            size = 0 if headed else prefix_size(given)
            if self._indexed:
                payload = given[unpack_indexes(given, size)[1] :]
                made = payload if type(value).FromString(payload) == value else made
            else:
                made = self._objects.kept(given[size:], made)
        return self._prefix + indexes + made
