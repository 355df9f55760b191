"""The plan to write a column: what the driver decides and executors follow.

Must not know how it is made or carried out.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from pipeline.columns.keys import content_key
from pipeline.columns.modes import Mode
from pipeline.columns.resolver import ReferenceKey, Rules
from registry import Schema, SchemaReference


@dataclass(frozen=True)
class EncodePlan:
    """The plan to write a column; picklable, and without secrets.

    Attributes:
        registry: configuration of the registry client, for rules; secrets as references.
        subject: under which the schema is registered.
        schema: the writer's.
        schema_id: its id.
        references: its references.
        message_type: full name of Protobuf's message type; empty for the first.
        mode: FAILFAST, or PERMISSIVE: a row that can't be written is null.
        rules: what happens if the schema has rules that run when values are written.
        rule_conf: properties of rule executors, secrets as references.
        topic: what rules are told.
        field: `key` or `value`.
        unnamed: see `ColumnarEncoder`.
    """

    registry: Mapping[str, object] = dataclasses.field(repr=False)
    subject: str
    schema: Schema
    schema_id: int
    references: Mapping[ReferenceKey, Schema]
    message_type: str = ""
    mode: Mode = Mode.FAILFAST
    rules: Rules = Rules.REFUSE
    rule_conf: Mapping[str, Any] = dataclasses.field(default_factory=dict, repr=False)
    topic: str | None = None
    field: str = "value"
    unnamed: Literal["map"] | None = None

    @functools.cached_property
    def key(self) -> str:
        """A hash of the content; it travels with the plan."""
        references = [[*key, schema.to_dict()] for key, schema in sorted(self.references.items())]
        facts = [self.subject, self.schema_id, self.message_type, self.mode.value, self.rules.value, self.topic]
        content = [dict(self.registry), self.schema.to_dict(), references, facts, dict(self.rule_conf)]
        return content_key([*content, self.field, self.unnamed])

    def reference(self, reference: SchemaReference) -> Schema:
        """The schema that a reference stands for."""
        return self.references[reference.subject, reference.version]

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in dataclasses.fields(self)} | {"key": self.key}
