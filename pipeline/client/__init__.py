"""The parts of the Kafka client that source and sink share: the options `kafka.…`, a task's producer, dead letters."""
