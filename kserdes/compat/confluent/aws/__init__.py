"""confluent_kafka's private modules for OAuth tokens of AWS."""
