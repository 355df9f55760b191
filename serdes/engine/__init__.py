"""What serializers of all formats share: which schema to use, and how to wait for a registry."""
