"""Parts of confluent_kafka.schema_registry around its client: tokens, REST clients, mocks, small names."""
