"""Parts of confluent_kafka's client that have no other home here: constants, checks, batching."""
