"""One connection without I/O: framing, correlation, handshake, SASL."""
