"""JSON with JSON Schema: the codec, the validator, and the format that serializers use."""
