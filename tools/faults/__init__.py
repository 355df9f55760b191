"""`make faults`: this client and confluent-kafka side by side through the faults of three real brokers."""
