"""Administration of ACLs and SCRAM users on asyncio: one request to the controller each, one outcome per key.

Must not know how requests are filled (engine/administering/security.py) or how connections work.
"""

import asyncio
import secrets
from collections.abc import Collection, Sequence
from typing import Final

from kafka_core.admin_security import (
    AclBinding,
    AclBindingFilter,
    UserScramCredentialAlteration,
    UserScramCredentialsDescription,
)
from kafka_core.aio.administering.routing import Deadline, Outcomes, Router
from kafka_core.engine.administering import security
from kafka_core.engine.administering.checks import (
    check_alterations,
    check_binding_filters,
    check_bindings,
    check_filter,
    check_users,
)

SALT_BYTES: Final = 32


async def create_acls(
    router: Router, acls: Sequence[AclBinding], request_timeout: float | None
) -> Outcomes[AclBinding, None]:
    """Creates bindings."""

    async def attempt(keys: Collection[AclBinding], deadline: Deadline) -> Outcomes[AclBinding, None]:
        wanted = list(keys)
        return security.created_acls(
            wanted, await router.ask_controller(security.create_acls_request(wanted), deadline)
        )

    return await router.keyed("create_acls", check_bindings(acls), attempt, request_timeout)


async def describe_acls(router: Router, acl: AclBindingFilter, request_timeout: float | None) -> list[AclBinding]:
    """The bindings that a filter stands for."""
    request = security.describe_acls_request(check_filter(acl))

    async def ask(deadline: Deadline) -> list[AclBinding]:
        return security.described_acls(await router.send_to(None, request, deadline))

    return await router.whole("describe_acls", ask, request_timeout)


async def delete_acls(
    router: Router, filters: Sequence[AclBindingFilter], request_timeout: float | None
) -> Outcomes[AclBindingFilter, list[AclBinding]]:
    """Deletes bindings; each filter gets those it removed."""

    async def attempt(
        keys: Collection[AclBindingFilter], deadline: Deadline
    ) -> Outcomes[AclBindingFilter, list[AclBinding]]:
        wanted = list(keys)
        return security.deleted_acls(
            wanted, await router.ask_controller(security.delete_acls_request(wanted), deadline)
        )

    return await router.keyed("delete_acls", check_binding_filters(filters), attempt, request_timeout)


async def describe_users(
    router: Router, users: Sequence[str] | None, request_timeout: float | None
) -> Outcomes[str, UserScramCredentialsDescription]:
    """The credentials of the users named, or of all."""
    wanted = check_users(users)

    async def attempt(
        keys: Collection[str] | None, deadline: Deadline
    ) -> Outcomes[str, UserScramCredentialsDescription]:
        request = security.describe_users_request(None if keys is None else list(keys))
        return security.described_users(await router.send_to(None, request, deadline))

    what = "describe_user_scram_credentials"
    if wanted is None:
        return await router.whole(what, lambda deadline: attempt(None, deadline), request_timeout)
    return await router.keyed(what, wanted, attempt, request_timeout)


async def alter_users(
    router: Router, alterations: Sequence[UserScramCredentialAlteration], request_timeout: float | None
) -> Outcomes[str, None]:
    """Sets and removes credentials; one outcome per user."""
    wanted = check_alterations(alterations)

    async def attempt(keys: Collection[str], deadline: Deadline) -> Outcomes[str, None]:
        part = [item for item in wanted if item.user in keys]
        # Hashing passwords takes milliseconds to a second: not on the loop.
        request = await asyncio.to_thread(security.alter_users_request, part, lambda: secrets.token_bytes(SALT_BYTES))
        return security.altered_users(await router.ask_controller(request, deadline))

    users = list(dict.fromkeys(item.user for item in wanted))
    return await router.keyed("alter_user_scram_credentials", users, attempt, request_timeout)
