"""The state of an embedded registry, and its storage."""
