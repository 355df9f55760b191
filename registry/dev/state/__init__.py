"""What an embedded registry knows, and where it is kept."""
