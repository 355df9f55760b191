"""Protobuf schemas: `.proto` texts and descriptors read, compiled, and written as a registry stores them."""
