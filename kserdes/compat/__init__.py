"""Dialects: other clients' APIs as adapters over the public clients of the libraries.

`confluent` (with `legacy`, its `avro` module), `kafka` (kafka-python 3.0), `aiokafka` and `simple` (kafka-python 0.9.5)
have one client each; `aliases`, `arguments`, `assigning` and `records` are shared by them. Must not hold any protocol:
a dialect maps names, arguments, results and errors. No library knows it.
"""
