"""Decisions of a producer: batches, their order, sequence numbers, retries and expiry."""
