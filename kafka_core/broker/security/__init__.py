"""Security of the embedded broker: logins (SASL), SCRAM users and ACLs."""
