"""Decisions of a member of a share group: sessions with brokers, records held, the next request (KIP-932)."""
