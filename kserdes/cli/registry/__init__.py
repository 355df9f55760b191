"""The group `kserdes registry`: the embedded schema registry as a server."""
