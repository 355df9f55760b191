"""What a consumer decides: positions, what to fetch, what to hand out, what to commit."""
