"""Decisions of a member of a consumer group: states, assignments, and the bytes that members exchange."""
