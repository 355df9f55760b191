"""The simulator: clients and an embedded cluster in one process, on virtual time; docs/simulation.md explains it."""
