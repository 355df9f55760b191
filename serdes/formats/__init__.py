"""The schema formats Avro, JSON Schema and Protobuf, behind one interface (`serdes.formats.protocol.SchemaFormat`)."""
