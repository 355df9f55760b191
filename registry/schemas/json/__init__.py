"""JSON Schemas: read into nodes, with their references, and written as a registry stores them."""
