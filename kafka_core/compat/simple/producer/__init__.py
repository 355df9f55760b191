"""Producers that choose a partition for a call, in turn or by key."""

from kafka_core.compat.simple.producer.keyed import KeyedProducer
from kafka_core.compat.simple.producer.simple import SimpleProducer

__all__ = ["KeyedProducer", "SimpleProducer"]
