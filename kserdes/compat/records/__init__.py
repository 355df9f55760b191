"""Record batches as kafka-python and aiokafka offer them: built record by record, read one by one.

For code that looks into batches; the clients of the dialects do not use them. Spec: KIP-98 (batches of magic 2) and
https://kafka.apache.org/documentation/#messageset (magic 0 and 1).
"""
