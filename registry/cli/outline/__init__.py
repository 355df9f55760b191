"""Where things are in the text of a schema."""
