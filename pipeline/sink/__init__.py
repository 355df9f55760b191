"""Writing: the options, rows to records, and the writers that Spark calls."""
