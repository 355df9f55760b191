"""Ways to reach an embedded registry: in this process, or over HTTP."""
