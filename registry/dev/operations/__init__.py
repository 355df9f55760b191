"""The operations of an embedded registry on schemas and subjects: register, look up, compare, describe, delete."""
