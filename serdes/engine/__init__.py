"""The common parts of all formats' serializers: choosing the schema, caching plans, calling the registry."""
