"""Other clients' APIs on ours.

Must not hold any protocol: a dialect maps names and arguments, and nothing below knows it.
"""
