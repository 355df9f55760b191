"""Common parts of all commands: options, settings, the registry client, errors and exit statuses."""
