"""Avro schemas: parsed, written, and brought to their canonical forms."""
