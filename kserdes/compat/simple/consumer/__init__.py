"""Consumers that read given partitions and keep positions under a group's name; no groups are joined."""

from kserdes.compat.simple.consumer.kafka import KafkaConsumer
from kserdes.compat.simple.consumer.multiprocess import MultiProcessConsumer
from kserdes.compat.simple.consumer.simple import SimpleConsumer

__all__ = ["KafkaConsumer", "MultiProcessConsumer", "SimpleConsumer"]
