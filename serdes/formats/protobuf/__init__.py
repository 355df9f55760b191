"""Protobuf: the codec, dicts in place of messages, and the format that serializers use."""
