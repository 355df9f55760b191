"""JSON as columns: Arrow types, plans, and the two ways to run them."""
