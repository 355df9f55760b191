"""Frames: the bytes, or the header, that name the schema of a payload."""
