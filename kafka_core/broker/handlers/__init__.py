"""The table of all handlers by API key. One module per API: `pNN_name.py`, NN being the key."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka_core.broker.handlers import (
    p00_produce,
    p01_fetch,
    p02_list_offsets,
    p03_metadata,
    p08_offset_commit,
    p09_offset_fetch,
    p10_find_coordinator,
    p11_join_group,
    p12_heartbeat,
    p13_leave_group,
    p14_sync_group,
    p15_describe_groups,
    p16_list_groups,
    p17_sasl_handshake,
    p18_api_versions,
    p19_create_topics,
    p20_delete_topics,
    p21_delete_records,
    p22_init_producer_id,
    p23_offset_for_leader_epoch,
    p29_describe_acls,
    p30_create_acls,
    p31_delete_acls,
    p32_describe_configs,
    p33_alter_configs,
    p36_sasl_authenticate,
    p37_create_partitions,
    p42_delete_groups,
    p43_elect_leaders,
    p44_incremental_alter_configs,
    p47_offset_delete,
    p50_describe_user_scram_credentials,
    p51_alter_user_scram_credentials,
    p60_describe_cluster,
)
from kafka_core.broker.handlers.api import Api

_MODULES = (
    p00_produce,
    p01_fetch,
    p02_list_offsets,
    p03_metadata,
    p08_offset_commit,
    p09_offset_fetch,
    p10_find_coordinator,
    p11_join_group,
    p12_heartbeat,
    p13_leave_group,
    p14_sync_group,
    p15_describe_groups,
    p16_list_groups,
    p17_sasl_handshake,
    p18_api_versions,
    p19_create_topics,
    p20_delete_topics,
    p21_delete_records,
    p22_init_producer_id,
    p23_offset_for_leader_epoch,
    p29_describe_acls,
    p30_create_acls,
    p31_delete_acls,
    p32_describe_configs,
    p33_alter_configs,
    p36_sasl_authenticate,
    p37_create_partitions,
    p42_delete_groups,
    p43_elect_leaders,
    p44_incremental_alter_configs,
    p47_offset_delete,
    p50_describe_user_scram_credentials,
    p51_alter_user_scram_credentials,
    p60_describe_cluster,
)

APIS: Mapping[int, Api[Any]] = {module.API.request.API_KEY: module.API for module in _MODULES}
"""API key -> handler."""
