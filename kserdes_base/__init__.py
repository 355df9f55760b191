"""The leaf of all packages: what each of them needs and none of them owns.

`config` has the rows of configuration tables, `oauth` the requests for tokens; every other module is one idea, which
stands here once. It imports none of our packages, and each of them may import it (docs/decisions/0126).
"""
