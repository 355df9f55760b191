"""Limits for hostile input: how large and how costly a schema, a comparison, a request or an answer may be.

Must not know who checks. They are checked where the cost would arise, since schemas are parsed and compared without a
server too; docs/compatibility.md says which error says so.
"""

from __future__ import annotations

from typing import Final

# --- the embedded registry's door, and the client's

MAX_BODY_BYTES: Final = 16 * 1024 * 1024
"""The body of a request."""
MAX_PARAMETERS: Final = 1000
"""Parameters in the URL of a request."""
MAX_ANSWER_BYTES: Final = 64 * 1024 * 1024
"""The body of an answer that the client reads."""

# --- schemas of any format

MAX_JSON_DEPTH: Final = 1000
"""Levels of a JSON document; Jackson has the same limit."""
MAX_REFERENCES: Final = 1000
"""Distinct schemas in one closure of references."""

# --- Avro

MAX_AVRO_NAME: Final = 1_000
"""Characters of a full name; a long namespace is repeated in every name inside it."""
MAX_DEFAULT_DEPTH: Final = 100
"""Levels of a default."""
MAX_AVRO_PAIRS: Final = 250_000
"""Pairs of types in one comparison: only schemas made to be costly need more."""
MAX_AVRO_PAIR_DEPTH: Final = 20_000
"""Levels of such pairs (through names: a text can't be nested so deep)."""

# --- JSON Schema

MAX_DIGITS: Final = 1_000
"""Digits of a number before or after the point."""
MAX_JSON_STEPS: Final = 1_200_000
"""Steps (questions about a pair of schemas) of one comparison."""
MAX_PATTERN_STEPS: Final = 2_000_000
"""Steps of all patterns in one comparison."""
MAX_PATTERN_STATES: Final = 5_000
"""Instructions of one pattern."""

# --- Protobuf

MAX_BRACKETS: Final = 100
"""Levels of brackets: protoc's reader of option values has no limit and overflows the stack."""
MAX_PROTO_CHARACTERS: Final = 8 << 20
"""Characters of a text."""
MAX_DESCRIPTOR_BYTES: Final = 3 << 20
"""Bytes of a serialized descriptor: two of them can be a message, and take hundreds in memory."""
MAX_PROTO_MARKS: Final = 150_000
"""Declarations of a text; counted are `;`, `,`, `:`, `[`, and `{` as four (types cost more)."""
MAX_PROTOC_MARKS: Final = 80_000
"""The same, of a schema with all it imports, where protoc compiles it (it takes kilobytes for each)."""
MAX_PROTOC_TYPES: Final = 10_000
"""Types of a schema with all it imports: protoc's time grows with the square of their number."""
MAX_PROTO_STEPS: Final = 1_000_000
"""Fields in one comparison: messages of many references can be paired in many ways."""
