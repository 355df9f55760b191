"""Compatibility of JSON Schemas."""
