"""One connection to one broker: TCP, TLS, tokens, requests and their answers; knows no metadata."""
