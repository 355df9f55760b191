"""When a token is renewed. The time is passed in.

Must not know where tokens come from. Source: Java's `ExpiringCredentialRefreshingLogin`; confluent_kafka's registry
client has the same part.
"""

from __future__ import annotations

from typing import Final

REFRESH_AT: Final = 0.8
"""The part of a token's life after which a new one is asked for; until its end the old one still serves."""
NEW_S: Final = 10.0
"""The least age of a token that is given up when somebody refuses it: a new one would be refused as well."""


def renewal_s(life_s: float) -> float:
    """Seconds until a new token should be asked for, of those that are left of a token's life."""
    return max(0.0, life_s * REFRESH_AT)


def may_be_withdrawn(age_s: float) -> bool:
    """Whether a refused token may have been withdrawn before its end, so that another one is worth asking for."""
    return age_s >= NEW_S
