"""Decisions of a consumer: positions, what to fetch, what to hand out, what to commit."""
