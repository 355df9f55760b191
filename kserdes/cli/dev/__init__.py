"""The command `kserdes dev`: an embedded Kafka broker and a schema registry."""
