"""`kserdes schema check`: schema files compared with their earlier versions."""
