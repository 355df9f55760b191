"""The functions that a job calls: for columns, for whole frames, for good and bad rows, and for looking into topics."""
