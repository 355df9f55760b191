"""What a member of a consumer group decides: states, assignments, and the bytes members exchange."""
