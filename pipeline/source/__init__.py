"""Reading: the options, the driver's splits and offsets, an executor's batches, and streams."""
