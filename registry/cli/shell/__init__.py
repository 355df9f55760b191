"""What all commands share: options, settings, the registry client, errors and exit statuses."""
