"""Protobuf ↔ Arrow columns: trees of message types, plans, the kernel's callers and the pure reference."""
