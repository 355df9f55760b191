"""Rules in CEL, the Common Expression Language: executors, functions, and values as CEL sees them."""
