"""Parts of confluent_kafka.schema_registry that `registry` lacks: `_rest_client`, tokens, mocks, small names."""
