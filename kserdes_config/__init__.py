"""Configuration properties of all packages: rows of a table, the reading of values, the refusal of wrong ones.

`errors` has the errors, `table` the rows and tables, `reading` the values. A leaf: it imports none of our packages, and
each of them may import it (docs/decisions/0055). It holds no property of its own.
"""
