"""Judges of a run, one property per module; each looks only at the history and the brokers' logs."""
