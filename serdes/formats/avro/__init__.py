"""Avro: the codec put together once per schema (or pair of schemas), and the format that serializers use."""
