"""Walks over the fields of values, a module for each format: domain rules transform fields, by their tags."""
