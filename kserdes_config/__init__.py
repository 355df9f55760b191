"""What a configuration property is, in all packages: rows of a table, how a value is read, how a wrong one is refused.

`errors` has the errors, `table` the rows and tables, `reading` the values. A leaf: it imports none of our packages, and
each of them may import it (docs/decisions/0055). It holds no property of its own.
"""
