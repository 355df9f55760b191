"""Tokens of OAuth2: how endpoints are asked for them, how answers are read, and when a token is renewed.

`requests` has the requests, `answers` the reading of answers, `renewal` the times, `aws` the settings and the request
to AWS STS. Nothing here does I/O or knows who needs a token: clients of brokers and registries do, and dialects.
"""
