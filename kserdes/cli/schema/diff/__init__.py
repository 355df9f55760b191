"""`kserdes schema diff`: two schemas side by side."""
