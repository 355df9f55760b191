"""The schema formats: `protocol` says what a serializer wants of one, `avro`, `json` and `protobuf` give it."""
