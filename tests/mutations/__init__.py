"""Defects that the tests must notice: the catalogue, and the command that puts them in one after the other."""
