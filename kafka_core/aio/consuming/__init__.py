"""The consumer on its event loop: carries out what kafka_core.engine.consuming and .groups decide."""
