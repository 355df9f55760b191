"""The producer on its event loop: carries out what kafka_core.engine.producing decides."""
