"""`kserdes schema lint`: schema files against rules of style."""
