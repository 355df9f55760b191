"""The admin client on its event loop: carries out what kafka_core.engine.administering plans."""
