"""Where schemas come from: files, git revisions, registries; and which of them belong together."""
