"""What an embedded registry does with schemas and subjects: register, look up, compare, describe, delete."""
