"""`kserdes schema register`, `get`, `list` and `delete`."""
