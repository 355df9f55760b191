"""Positions in the text of a schema."""
