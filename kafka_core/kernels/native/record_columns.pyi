from kafka_core.kernels.abc import RecordColumns

class Rows:
    def __init__(self, columns: RecordColumns) -> None: ...
