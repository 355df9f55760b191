"""The plan of a job, and how it converts one Arrow batch of frames or columns. Starts no Spark."""
