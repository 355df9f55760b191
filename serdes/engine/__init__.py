"""What the serializers of all formats share: choosing the schema, caching plans, calling the registry."""
