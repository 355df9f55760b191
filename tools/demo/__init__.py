"""`make demo`: the main job end to end on real data: service → Kafka → service and Spark, schemas in a registry."""
