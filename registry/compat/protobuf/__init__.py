"""Compatibility of Protobuf schemas."""
