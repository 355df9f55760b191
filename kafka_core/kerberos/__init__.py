"""Kerberos for SASL GSSAPI, by the system's MIT Kerberos; blocks.

Knows no loop, no connection, no request: wire/sasl/gssapi.py speaks with the broker.
"""
