"""The version of this package. `kafka_core.version` says it too, and is not known here; a test compares the two."""

from typing import Final

VERSION: Final = "0.1.0"
