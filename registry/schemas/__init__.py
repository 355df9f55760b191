"""Schemas parsed and printed: models, references, canonical texts, fingerprints; a folder for each format."""
