"""`make pipe`: a pipe of transactions on three real brokers, whose parts are killed at random moments."""
