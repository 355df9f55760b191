"""Rules written inside schemas (`confluent:rules`): a module finds those of each format, `validating` runs them."""
