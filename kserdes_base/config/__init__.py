"""Configuration properties: rows of a table, the reading of values, the refusal of wrong ones.

`errors` has the errors, `table` the rows and tables, `reading` the values. It holds no property of its own: a package
keeps its table beside what it configures (docs/decisions/0055).
"""
