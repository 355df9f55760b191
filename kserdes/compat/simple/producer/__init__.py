"""Producers that choose a partition for a call, in turn or by key."""

from kserdes.compat.simple.producer.keyed import KeyedProducer
from kserdes.compat.simple.producer.simple import SimpleProducer

__all__ = ["KeyedProducer", "SimpleProducer"]
