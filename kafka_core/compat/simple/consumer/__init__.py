"""Consumers that read given partitions and keep positions under a group's name; no groups are joined."""

from kafka_core.compat.simple.consumer.kafka import KafkaConsumer
from kafka_core.compat.simple.consumer.multiprocess import MultiProcessConsumer
from kafka_core.compat.simple.consumer.simple import SimpleConsumer

__all__ = ["KafkaConsumer", "MultiProcessConsumer", "SimpleConsumer"]
