"""The cluster behind one client: connections per broker, metadata, coordinators; knows no records."""
