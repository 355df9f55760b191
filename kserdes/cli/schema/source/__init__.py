"""Sources of schemas: files, git revisions, registries; and the matching of their schemas."""
