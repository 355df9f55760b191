"""Kill -9 of Spark's drivers, executors and Python workers at random moments, and what a reader sees then."""
