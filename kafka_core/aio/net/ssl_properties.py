"""The ssl.* properties, read and given to the loaders of a TLS context; what these refuse is told by property.

Must not know which properties there are.
"""

from kafka_core.config import Config
from kafka_core.errors import ConfigError


def given(config: Config, name: str) -> str | None:
    """An optional property; an empty one counts as not given."""
    return config.optional_text(name) or None


def apply(name: str, load: object, *args: object, **options: object) -> None:
    """Call one of the context's loaders; its errors become ConfigErrors that name the property."""
    assert callable(load)
    try:
        load(*args, **options)
    except FileNotFoundError as error:
        raise ConfigError(f"{name}: no such file: {args[0] if args else options}") from error
    except (OSError, ValueError, TypeError) as error:  # ssl.SSLError is an OSError
        reason = getattr(error, "reason", None) or error
        raise ConfigError(f"{name}: cannot be used: {reason}") from error
