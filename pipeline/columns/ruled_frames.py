"""Frames whose schema has rules that run when values are written: through the serializer of its format, one by one.

Slow and right, as `pipeline.columns.ruled` is for reading. Must not know of columns or sessions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pipeline.columns.encode_plan import EncodePlan
from pipeline.columns.objects import Objects
from pipeline.columns.references import resolved
from pipeline.columns.resolver import client_of
from registry import Schema
from serdes.context import MessageField, SerializationContext
from serdes.frames.framing import PREFIX_BYTES, unpack_indexes


class RuledFrames:
    """Runs rules over frames. They see what they would see in a service: objects of the format, which fit the schema.

    Args:
        plan: of the column.
        schema: of the frames, without rules.
    """

    def __init__(self, plan: EncodePlan, schema: Schema) -> None:
        self._objects = Objects(schema, plan.reference, plan.message_type)
        self._indexed = schema.schema_type == "PROTOBUF"
        self._serialize = self._serializer(plan)

    def frame(self, frame: bytes) -> bytes:
        """The frame of what the rules make of a frame's object.

        Raises:
            SerializationError: a rule refuses it or fails, or what it gives can't be written.
        """
        size = unpack_indexes(frame, PREFIX_BYTES)[1] if self._indexed else PREFIX_BYTES
        payload = frame[size:]
        ruled = self._serialize(self._objects.read(payload))
        return ruled if self._objects.kept(payload, ruled[size:]) is not payload else frame

    def _serializer(self, plan: EncodePlan) -> Callable[[Any], bytes]:
        client, subject = client_of(plan.registry), plan.subject
        conf: dict[str, Any] = {
            "auto.register.schemas": False,
            "use.schema.id": plan.schema_id,
            "subject.name.strategy": lambda ctx, name: subject,
        }
        rule_conf = resolved(plan.rule_conf)
        made: Any
        if plan.schema.schema_type == "AVRO":
            from serdes.avro import AvroSerializer

            made = AvroSerializer(client, plan.schema, conf=conf, rule_conf=rule_conf)
        elif plan.schema.schema_type == "JSON":
            from serdes.json_schema import JSONSerializer

            made = JSONSerializer(plan.schema, client, conf=conf, rule_conf=rule_conf)
        else:
            from serdes.protobuf import ProtobufSerializer

            conf["message.type"] = plan.message_type
            made = ProtobufSerializer(plan.schema, client, conf, rule_conf)
        context = SerializationContext(plan.topic or subject, MessageField(plan.field))
        return lambda value: bytes(made(value, context))
