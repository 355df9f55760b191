"""Client telemetry (KIP-714): what is measured, and when it is pushed. Nothing here does I/O or knows a clock."""
