"""Share groups of the embedded broker (KIP-932): the coordinator, the groups, and the records that they hold."""
