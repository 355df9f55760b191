"""What a producer decides: batches, their order, sequence numbers, retries and expiry."""
