"""Tokens from an OpenID Connect provider or from a cloud, where the configuration says how to get them.

Must not know connections or loops. What is here blocks: it runs on the thread of `aio/net/tokens.py` (decision 0083).
"""
