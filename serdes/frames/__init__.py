"""Frames: the bytes in front of a payload, or the record header, that name its schema."""
