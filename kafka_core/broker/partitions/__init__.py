"""Partitions of the embedded broker: topics and their logs, what is appended and read, and fetch sessions."""
