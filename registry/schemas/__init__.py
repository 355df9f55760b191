"""What a schema is: parsing, models, references, canonical texts and fingerprints; a folder for each format."""
