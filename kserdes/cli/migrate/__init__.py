"""The group `kserdes migrate`: what a code base uses of other Kafka clients."""
