"""What a job calls: column functions, whole frames, good rows and bad ones, and what a topic holds."""
