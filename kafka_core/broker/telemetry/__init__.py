"""Telemetry at the embedded broker (KIP-714): subscriptions of clients, and the OTLP that they push."""
