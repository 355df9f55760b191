"""Parts of confluent_kafka's serializers and rules that have no other home here."""
