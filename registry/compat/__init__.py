"""Compatibility of schemas, judged locally: `check(candidate, registered, level)`.

Must not know of servers. See the modules for the rules and their sources.
"""

from registry.compat.difference import AvroKind, Difference, Roles
from registry.compat.levels import Level
from registry.compat.verdict import CompatibilityResult, check, same_group

__all__ = ["AvroKind", "CompatibilityResult", "Difference", "Level", "Roles", "check", "same_group"]
