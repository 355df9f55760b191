"""Running asyncio tasks: in the background, racing each other, closing once. Knows nothing of Kafka."""
