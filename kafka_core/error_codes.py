# Written by tools/generate_errors.py; do not edit.
"""Error codes of brokers and of the client itself, with what the Java client thinks about each.

Knows nothing of exceptions.
Truth: org.apache.kafka.common.protocol.Errors; names as confluent_kafka.KafkaError has them.
"""

from typing import Final, NamedTuple


class ErrorFacts(NamedTuple):
    """What is known of one code: constant name, standing text, and what a client may do about it."""

    name: str
    text: str
    retriable: bool
    refresh_metadata: bool


class ErrorCodes:
    """One constant per code: negative ones are made by the client, others come from a broker."""

    _BAD_MSG: Final = -199
    _BAD_COMPRESSION: Final = -198
    _DESTROY: Final = -197
    _FAIL: Final = -196
    _TRANSPORT: Final = -195
    _CRIT_SYS_RESOURCE: Final = -194
    _RESOLVE: Final = -193
    _MSG_TIMED_OUT: Final = -192
    _PARTITION_EOF: Final = -191
    _UNKNOWN_PARTITION: Final = -190
    _FS: Final = -189
    _UNKNOWN_TOPIC: Final = -188
    _ALL_BROKERS_DOWN: Final = -187
    _INVALID_ARG: Final = -186
    _TIMED_OUT: Final = -185
    _QUEUE_FULL: Final = -184
    _ISR_INSUFF: Final = -183
    _NODE_UPDATE: Final = -182
    _SSL: Final = -181
    _WAIT_COORD: Final = -180
    _UNKNOWN_GROUP: Final = -179
    _IN_PROGRESS: Final = -178
    _PREV_IN_PROGRESS: Final = -177
    _EXISTING_SUBSCRIPTION: Final = -176
    _ASSIGN_PARTITIONS: Final = -175
    _REVOKE_PARTITIONS: Final = -174
    _CONFLICT: Final = -173
    _STATE: Final = -172
    _UNKNOWN_PROTOCOL: Final = -171
    _NOT_IMPLEMENTED: Final = -170
    _AUTHENTICATION: Final = -169
    _NO_OFFSET: Final = -168
    _OUTDATED: Final = -167
    _TIMED_OUT_QUEUE: Final = -166
    _UNSUPPORTED_FEATURE: Final = -165
    _WAIT_CACHE: Final = -164
    _INTR: Final = -163
    _KEY_SERIALIZATION: Final = -162
    _VALUE_SERIALIZATION: Final = -161
    _KEY_DESERIALIZATION: Final = -160
    _VALUE_DESERIALIZATION: Final = -159
    _PARTIAL: Final = -158
    _READ_ONLY: Final = -157
    _NOENT: Final = -156
    _UNDERFLOW: Final = -155
    _INVALID_TYPE: Final = -154
    _RETRY: Final = -153
    _PURGE_QUEUE: Final = -152
    _PURGE_INFLIGHT: Final = -151
    _FATAL: Final = -150
    _INCONSISTENT: Final = -149
    _GAPLESS_GUARANTEE: Final = -148
    _MAX_POLL_EXCEEDED: Final = -147
    _UNKNOWN_BROKER: Final = -146
    _NOT_CONFIGURED: Final = -145
    _FENCED: Final = -144
    _APPLICATION: Final = -143
    _ASSIGNMENT_LOST: Final = -142
    _NOOP: Final = -141
    _AUTO_OFFSET_RESET: Final = -140
    _LOG_TRUNCATION: Final = -139
    _INVALID_DIFFERENT_RECORD: Final = -138
    _DESTROY_BROKER: Final = -137
    UNKNOWN: Final = -1
    NO_ERROR: Final = 0
    OFFSET_OUT_OF_RANGE: Final = 1
    INVALID_MSG: Final = 2
    UNKNOWN_TOPIC_OR_PART: Final = 3
    INVALID_MSG_SIZE: Final = 4
    LEADER_NOT_AVAILABLE: Final = 5
    NOT_LEADER_FOR_PARTITION: Final = 6
    REQUEST_TIMED_OUT: Final = 7
    BROKER_NOT_AVAILABLE: Final = 8
    REPLICA_NOT_AVAILABLE: Final = 9
    MSG_SIZE_TOO_LARGE: Final = 10
    STALE_CTRL_EPOCH: Final = 11
    OFFSET_METADATA_TOO_LARGE: Final = 12
    NETWORK_EXCEPTION: Final = 13
    COORDINATOR_LOAD_IN_PROGRESS: Final = 14
    COORDINATOR_NOT_AVAILABLE: Final = 15
    NOT_COORDINATOR: Final = 16
    TOPIC_EXCEPTION: Final = 17
    RECORD_LIST_TOO_LARGE: Final = 18
    NOT_ENOUGH_REPLICAS: Final = 19
    NOT_ENOUGH_REPLICAS_AFTER_APPEND: Final = 20
    INVALID_REQUIRED_ACKS: Final = 21
    ILLEGAL_GENERATION: Final = 22
    INCONSISTENT_GROUP_PROTOCOL: Final = 23
    INVALID_GROUP_ID: Final = 24
    UNKNOWN_MEMBER_ID: Final = 25
    INVALID_SESSION_TIMEOUT: Final = 26
    REBALANCE_IN_PROGRESS: Final = 27
    INVALID_COMMIT_OFFSET_SIZE: Final = 28
    TOPIC_AUTHORIZATION_FAILED: Final = 29
    GROUP_AUTHORIZATION_FAILED: Final = 30
    CLUSTER_AUTHORIZATION_FAILED: Final = 31
    INVALID_TIMESTAMP: Final = 32
    UNSUPPORTED_SASL_MECHANISM: Final = 33
    ILLEGAL_SASL_STATE: Final = 34
    UNSUPPORTED_VERSION: Final = 35
    TOPIC_ALREADY_EXISTS: Final = 36
    INVALID_PARTITIONS: Final = 37
    INVALID_REPLICATION_FACTOR: Final = 38
    INVALID_REPLICA_ASSIGNMENT: Final = 39
    INVALID_CONFIG: Final = 40
    NOT_CONTROLLER: Final = 41
    INVALID_REQUEST: Final = 42
    UNSUPPORTED_FOR_MESSAGE_FORMAT: Final = 43
    POLICY_VIOLATION: Final = 44
    OUT_OF_ORDER_SEQUENCE_NUMBER: Final = 45
    DUPLICATE_SEQUENCE_NUMBER: Final = 46
    INVALID_PRODUCER_EPOCH: Final = 47
    INVALID_TXN_STATE: Final = 48
    INVALID_PRODUCER_ID_MAPPING: Final = 49
    INVALID_TRANSACTION_TIMEOUT: Final = 50
    CONCURRENT_TRANSACTIONS: Final = 51
    TRANSACTION_COORDINATOR_FENCED: Final = 52
    TRANSACTIONAL_ID_AUTHORIZATION_FAILED: Final = 53
    SECURITY_DISABLED: Final = 54
    OPERATION_NOT_ATTEMPTED: Final = 55
    KAFKA_STORAGE_ERROR: Final = 56
    LOG_DIR_NOT_FOUND: Final = 57
    SASL_AUTHENTICATION_FAILED: Final = 58
    UNKNOWN_PRODUCER_ID: Final = 59
    REASSIGNMENT_IN_PROGRESS: Final = 60
    DELEGATION_TOKEN_AUTH_DISABLED: Final = 61
    DELEGATION_TOKEN_NOT_FOUND: Final = 62
    DELEGATION_TOKEN_OWNER_MISMATCH: Final = 63
    DELEGATION_TOKEN_REQUEST_NOT_ALLOWED: Final = 64
    DELEGATION_TOKEN_AUTHORIZATION_FAILED: Final = 65
    DELEGATION_TOKEN_EXPIRED: Final = 66
    INVALID_PRINCIPAL_TYPE: Final = 67
    NON_EMPTY_GROUP: Final = 68
    GROUP_ID_NOT_FOUND: Final = 69
    FETCH_SESSION_ID_NOT_FOUND: Final = 70
    INVALID_FETCH_SESSION_EPOCH: Final = 71
    LISTENER_NOT_FOUND: Final = 72
    TOPIC_DELETION_DISABLED: Final = 73
    FENCED_LEADER_EPOCH: Final = 74
    UNKNOWN_LEADER_EPOCH: Final = 75
    UNSUPPORTED_COMPRESSION_TYPE: Final = 76
    STALE_BROKER_EPOCH: Final = 77
    OFFSET_NOT_AVAILABLE: Final = 78
    MEMBER_ID_REQUIRED: Final = 79
    PREFERRED_LEADER_NOT_AVAILABLE: Final = 80
    GROUP_MAX_SIZE_REACHED: Final = 81
    FENCED_INSTANCE_ID: Final = 82
    ELIGIBLE_LEADERS_NOT_AVAILABLE: Final = 83
    ELECTION_NOT_NEEDED: Final = 84
    NO_REASSIGNMENT_IN_PROGRESS: Final = 85
    GROUP_SUBSCRIBED_TO_TOPIC: Final = 86
    INVALID_RECORD: Final = 87
    UNSTABLE_OFFSET_COMMIT: Final = 88
    THROTTLING_QUOTA_EXCEEDED: Final = 89
    PRODUCER_FENCED: Final = 90
    RESOURCE_NOT_FOUND: Final = 91
    DUPLICATE_RESOURCE: Final = 92
    UNACCEPTABLE_CREDENTIAL: Final = 93
    INCONSISTENT_VOTER_SET: Final = 94
    INVALID_UPDATE_VERSION: Final = 95
    FEATURE_UPDATE_FAILED: Final = 96
    PRINCIPAL_DESERIALIZATION_FAILURE: Final = 97
    SNAPSHOT_NOT_FOUND: Final = 98
    POSITION_OUT_OF_RANGE: Final = 99
    UNKNOWN_TOPIC_ID: Final = 100
    DUPLICATE_BROKER_REGISTRATION: Final = 101
    BROKER_ID_NOT_REGISTERED: Final = 102
    INCONSISTENT_TOPIC_ID: Final = 103
    INCONSISTENT_CLUSTER_ID: Final = 104
    TRANSACTIONAL_ID_NOT_FOUND: Final = 105
    FETCH_SESSION_TOPIC_ID_ERROR: Final = 106
    INELIGIBLE_REPLICA: Final = 107
    NEW_LEADER_ELECTED: Final = 108
    OFFSET_MOVED_TO_TIERED_STORAGE: Final = 109
    FENCED_MEMBER_EPOCH: Final = 110
    UNRELEASED_INSTANCE_ID: Final = 111
    UNSUPPORTED_ASSIGNOR: Final = 112
    STALE_MEMBER_EPOCH: Final = 113
    MISMATCHED_ENDPOINT_TYPE: Final = 114
    UNSUPPORTED_ENDPOINT_TYPE: Final = 115
    UNKNOWN_CONTROLLER_ID: Final = 116
    UNKNOWN_SUBSCRIPTION_ID: Final = 117
    TELEMETRY_TOO_LARGE: Final = 118
    INVALID_REGISTRATION: Final = 119
    TRANSACTION_ABORTABLE: Final = 120
    INVALID_RECORD_STATE: Final = 121
    SHARE_SESSION_NOT_FOUND: Final = 122
    INVALID_SHARE_SESSION_EPOCH: Final = 123
    FENCED_STATE_EPOCH: Final = 124
    INVALID_VOTER_KEY: Final = 125
    DUPLICATE_VOTER: Final = 126
    VOTER_NOT_FOUND: Final = 127
    INVALID_REGULAR_EXPRESSION: Final = 128
    REBOOTSTRAP_REQUIRED: Final = 129
    STREAMS_INVALID_TOPOLOGY: Final = 130
    STREAMS_INVALID_TOPOLOGY_EPOCH: Final = 131
    STREAMS_TOPOLOGY_FENCED: Final = 132
    SHARE_SESSION_LIMIT_REACHED: Final = 133


ROWS: Final[list[tuple[int, str, str, bool, bool]]] = [
    (-199, "_BAD_MSG", "Local: Bad message format", False, False),
    (-198, "_BAD_COMPRESSION", "Local: Invalid compressed data", False, False),
    (-197, "_DESTROY", "Local: Broker handle destroyed for termination", False, False),
    (-196, "_FAIL", "Local: Communication failure with broker", False, False),
    (-195, "_TRANSPORT", "Local: Broker transport failure", False, False),
    (-194, "_CRIT_SYS_RESOURCE", "Local: Critical system resource failure", False, False),
    (-193, "_RESOLVE", "Local: Host resolution failure", False, False),
    (-192, "_MSG_TIMED_OUT", "Local: Message timed out", False, False),
    (-191, "_PARTITION_EOF", "Broker: No more messages", False, False),
    (-190, "_UNKNOWN_PARTITION", "Local: Unknown partition", False, False),
    (-189, "_FS", "Local: File or filesystem error", False, False),
    (-188, "_UNKNOWN_TOPIC", "Local: Unknown topic", False, False),
    (-187, "_ALL_BROKERS_DOWN", "Local: All broker connections are down", False, False),
    (-186, "_INVALID_ARG", "Local: Invalid argument or configuration", False, False),
    (-185, "_TIMED_OUT", "Local: Timed out", False, False),
    (-184, "_QUEUE_FULL", "Local: Queue full", False, False),
    (-183, "_ISR_INSUFF", "Local: ISR count insufficient", False, False),
    (-182, "_NODE_UPDATE", "Local: Broker node update", False, False),
    (-181, "_SSL", "Local: SSL error", False, False),
    (-180, "_WAIT_COORD", "Local: Waiting for coordinator", False, False),
    (-179, "_UNKNOWN_GROUP", "Local: Unknown group", False, False),
    (-178, "_IN_PROGRESS", "Local: Operation in progress", False, False),
    (-177, "_PREV_IN_PROGRESS", "Local: Previous operation in progress", False, False),
    (-176, "_EXISTING_SUBSCRIPTION", "Local: Existing subscription", False, False),
    (-175, "_ASSIGN_PARTITIONS", "Local: Assign partitions", False, False),
    (-174, "_REVOKE_PARTITIONS", "Local: Revoke partitions", False, False),
    (-173, "_CONFLICT", "Local: Conflicting use", False, False),
    (-172, "_STATE", "Local: Erroneous state", False, False),
    (-171, "_UNKNOWN_PROTOCOL", "Local: Unknown protocol", False, False),
    (-170, "_NOT_IMPLEMENTED", "Local: Not implemented", False, False),
    (-169, "_AUTHENTICATION", "Local: Authentication failure", False, False),
    (-168, "_NO_OFFSET", "Local: No offset stored", False, False),
    (-167, "_OUTDATED", "Local: Outdated", False, False),
    (-166, "_TIMED_OUT_QUEUE", "Local: Timed out in queue", False, False),
    (-165, "_UNSUPPORTED_FEATURE", "Local: Required feature not supported by broker", False, False),
    (-164, "_WAIT_CACHE", "Local: Awaiting cache update", False, False),
    (-163, "_INTR", "Local: Operation interrupted", False, False),
    (-162, "_KEY_SERIALIZATION", "Local: Key serialization error", False, False),
    (-161, "_VALUE_SERIALIZATION", "Local: Value serialization error", False, False),
    (-160, "_KEY_DESERIALIZATION", "Local: Key deserialization error", False, False),
    (-159, "_VALUE_DESERIALIZATION", "Local: Value deserialization error", False, False),
    (-158, "_PARTIAL", "Local: Partial response", False, False),
    (-157, "_READ_ONLY", "Local: Read-only object", False, False),
    (-156, "_NOENT", "Local: No such entry", False, False),
    (-155, "_UNDERFLOW", "Local: Read underflow", False, False),
    (-154, "_INVALID_TYPE", "Local: Invalid type", False, False),
    (-153, "_RETRY", "Local: Retry operation", False, False),
    (-152, "_PURGE_QUEUE", "Local: Purged in queue", False, False),
    (-151, "_PURGE_INFLIGHT", "Local: Purged in flight", False, False),
    (-150, "_FATAL", "Local: Fatal error", False, False),
    (-149, "_INCONSISTENT", "Local: Inconsistent state", False, False),
    (-148, "_GAPLESS_GUARANTEE", "Local: Gap-less ordering would not be guaranteed if proceeding", False, False),
    (
        -147,
        "_MAX_POLL_EXCEEDED",
        "Local: Maximum application poll interval (max.poll.interval.ms) exceeded",
        False,
        False,
    ),
    (-146, "_UNKNOWN_BROKER", "Local: Unknown broker", False, False),
    (-145, "_NOT_CONFIGURED", "Local: Functionality not configured", False, False),
    (-144, "_FENCED", "Local: Fenced by a newer instance", False, False),
    (-143, "_APPLICATION", "Local: Application generated error", False, False),
    (-142, "_ASSIGNMENT_LOST", "Local: Group partition assignment lost", False, False),
    (-141, "_NOOP", "Local: No operation performed", False, False),
    (-140, "_AUTO_OFFSET_RESET", "Local: No offset to automatically reset to", False, False),
    (-139, "_LOG_TRUNCATION", "Local: Partition log truncation detected", False, False),
    (-138, "_INVALID_DIFFERENT_RECORD", "Local: An invalid record in the same batch", False, False),
    (-137, "_DESTROY_BROKER", "Local: Broker handle destroyed without termination", False, False),
    (-1, "UNKNOWN", "Unknown broker error", False, False),
    (0, "NO_ERROR", "Success", False, False),
    (1, "OFFSET_OUT_OF_RANGE", "Broker: Offset out of range", False, False),
    (2, "INVALID_MSG", "Broker: Invalid message", True, False),
    (3, "UNKNOWN_TOPIC_OR_PART", "Broker: Unknown topic or partition", True, True),
    (4, "INVALID_MSG_SIZE", "Broker: Invalid message size", False, False),
    (5, "LEADER_NOT_AVAILABLE", "Broker: Leader not available", True, True),
    (6, "NOT_LEADER_FOR_PARTITION", "Broker: Not leader for partition", True, True),
    (7, "REQUEST_TIMED_OUT", "Broker: Request timed out", True, False),
    (8, "BROKER_NOT_AVAILABLE", "Broker: Broker not available", False, False),
    (9, "REPLICA_NOT_AVAILABLE", "Broker: Replica not available", True, True),
    (10, "MSG_SIZE_TOO_LARGE", "Broker: Message size too large", False, False),
    (11, "STALE_CTRL_EPOCH", "Broker: StaleControllerEpochCode", False, False),
    (12, "OFFSET_METADATA_TOO_LARGE", "Broker: Offset metadata string too large", False, False),
    (13, "NETWORK_EXCEPTION", "Broker: Broker disconnected before response received", True, True),
    (14, "COORDINATOR_LOAD_IN_PROGRESS", "Broker: Coordinator load in progress", True, False),
    (15, "COORDINATOR_NOT_AVAILABLE", "Broker: Coordinator not available", True, False),
    (16, "NOT_COORDINATOR", "Broker: Not coordinator", True, False),
    (17, "TOPIC_EXCEPTION", "Broker: Invalid topic", False, False),
    (18, "RECORD_LIST_TOO_LARGE", "Broker: Message batch larger than configured server segment size", False, False),
    (19, "NOT_ENOUGH_REPLICAS", "Broker: Not enough in-sync replicas", True, False),
    (
        20,
        "NOT_ENOUGH_REPLICAS_AFTER_APPEND",
        "Broker: Message(s) written to insufficient number of in-sync replicas",
        True,
        False,
    ),
    (21, "INVALID_REQUIRED_ACKS", "Broker: Invalid required acks value", False, False),
    (22, "ILLEGAL_GENERATION", "Broker: Specified group generation id is not valid", False, False),
    (23, "INCONSISTENT_GROUP_PROTOCOL", "Broker: Inconsistent group protocol", False, False),
    (24, "INVALID_GROUP_ID", "Broker: Invalid group.id", False, False),
    (25, "UNKNOWN_MEMBER_ID", "Broker: Unknown member", False, False),
    (26, "INVALID_SESSION_TIMEOUT", "Broker: Invalid session timeout", False, False),
    (27, "REBALANCE_IN_PROGRESS", "Broker: Group rebalance in progress", False, False),
    (28, "INVALID_COMMIT_OFFSET_SIZE", "Broker: Commit offset data size is not valid", False, False),
    (29, "TOPIC_AUTHORIZATION_FAILED", "Broker: Topic authorization failed", False, False),
    (30, "GROUP_AUTHORIZATION_FAILED", "Broker: Group authorization failed", False, False),
    (31, "CLUSTER_AUTHORIZATION_FAILED", "Broker: Cluster authorization failed", False, False),
    (32, "INVALID_TIMESTAMP", "Broker: Invalid timestamp", False, False),
    (33, "UNSUPPORTED_SASL_MECHANISM", "Broker: Unsupported SASL mechanism", False, False),
    (34, "ILLEGAL_SASL_STATE", "Broker: Request not valid in current SASL state", False, False),
    (35, "UNSUPPORTED_VERSION", "Broker: API version not supported", False, False),
    (36, "TOPIC_ALREADY_EXISTS", "Broker: Topic already exists", False, False),
    (37, "INVALID_PARTITIONS", "Broker: Invalid number of partitions", False, False),
    (38, "INVALID_REPLICATION_FACTOR", "Broker: Invalid replication factor", False, False),
    (39, "INVALID_REPLICA_ASSIGNMENT", "Broker: Invalid replica assignment", False, False),
    (40, "INVALID_CONFIG", "Broker: Configuration is invalid", False, False),
    (41, "NOT_CONTROLLER", "Broker: Not controller for cluster", True, False),
    (42, "INVALID_REQUEST", "Broker: Invalid request", False, False),
    (43, "UNSUPPORTED_FOR_MESSAGE_FORMAT", "Broker: Message format on broker does not support request", False, False),
    (44, "POLICY_VIOLATION", "Broker: Policy violation", False, False),
    (45, "OUT_OF_ORDER_SEQUENCE_NUMBER", "Broker: Broker received an out of order sequence number", False, False),
    (46, "DUPLICATE_SEQUENCE_NUMBER", "Broker: Broker received a duplicate sequence number", False, False),
    (47, "INVALID_PRODUCER_EPOCH", "Broker: Producer attempted an operation with an old epoch", False, False),
    (48, "INVALID_TXN_STATE", "Broker: Invalid transaction state", False, False),
    (49, "INVALID_PRODUCER_ID_MAPPING", "Broker: Invalid producer ID mapping", False, False),
    (50, "INVALID_TRANSACTION_TIMEOUT", "Broker: Invalid transaction timeout", False, False),
    (51, "CONCURRENT_TRANSACTIONS", "Broker: Concurrent transactions", True, False),
    (52, "TRANSACTION_COORDINATOR_FENCED", "Broker: Transaction coordinator fenced", False, False),
    (53, "TRANSACTIONAL_ID_AUTHORIZATION_FAILED", "Broker: Transactional Id authorization failed", False, False),
    (54, "SECURITY_DISABLED", "Broker: Security features are disabled", False, False),
    (55, "OPERATION_NOT_ATTEMPTED", "Broker: Operation not attempted", False, False),
    (56, "KAFKA_STORAGE_ERROR", "Broker: Kafka storage error", True, True),
    (57, "LOG_DIR_NOT_FOUND", "Broker: Log dir not found", False, False),
    (58, "SASL_AUTHENTICATION_FAILED", "Broker: SASL Authentication failed", False, False),
    (59, "UNKNOWN_PRODUCER_ID", "Broker: Unknown Producer Id", False, False),
    (60, "REASSIGNMENT_IN_PROGRESS", "Broker: Partition reassignment is in progress", False, False),
    (61, "DELEGATION_TOKEN_AUTH_DISABLED", "Broker: Delegation Token feature is not enabled", False, False),
    (62, "DELEGATION_TOKEN_NOT_FOUND", "Broker: Delegation Token is not found on server", False, False),
    (63, "DELEGATION_TOKEN_OWNER_MISMATCH", "Broker: Specified Principal is not valid Owner/Renewer", False, False),
    (64, "DELEGATION_TOKEN_REQUEST_NOT_ALLOWED", "Broker: Delegation token request not allowed", False, False),
    (65, "DELEGATION_TOKEN_AUTHORIZATION_FAILED", "Broker: Delegation Token authorization failed", False, False),
    (66, "DELEGATION_TOKEN_EXPIRED", "Broker: Delegation Token is expired", False, False),
    (67, "INVALID_PRINCIPAL_TYPE", "Broker: Supplied principalType is not supported", False, False),
    (68, "NON_EMPTY_GROUP", "Broker: The group is not empty", False, False),
    (69, "GROUP_ID_NOT_FOUND", "Broker: The group id does not exist", False, False),
    (70, "FETCH_SESSION_ID_NOT_FOUND", "Broker: The fetch session ID was not found", True, False),
    (71, "INVALID_FETCH_SESSION_EPOCH", "Broker: The fetch session epoch is invalid", True, False),
    (72, "LISTENER_NOT_FOUND", "Broker: No matching listener", True, True),
    (73, "TOPIC_DELETION_DISABLED", "Broker: Topic deletion is disabled", False, False),
    (74, "FENCED_LEADER_EPOCH", "Broker: Leader epoch is older than broker epoch", True, True),
    (75, "UNKNOWN_LEADER_EPOCH", "Broker: Leader epoch is newer than broker epoch", True, False),
    (76, "UNSUPPORTED_COMPRESSION_TYPE", "Broker: Unsupported compression type", False, False),
    (77, "STALE_BROKER_EPOCH", "Broker: Broker epoch has changed", False, False),
    (78, "OFFSET_NOT_AVAILABLE", "Broker: Leader high watermark is not caught up", True, False),
    (79, "MEMBER_ID_REQUIRED", "Broker: Group member needs a valid member ID", False, False),
    (80, "PREFERRED_LEADER_NOT_AVAILABLE", "Broker: Preferred leader was not available", True, True),
    (81, "GROUP_MAX_SIZE_REACHED", "Broker: Consumer group has reached maximum size", False, False),
    (82, "FENCED_INSTANCE_ID", "Broker: Fenced instance ID", False, False),
    (83, "ELIGIBLE_LEADERS_NOT_AVAILABLE", "Broker: Eligible partition leaders are not available", True, True),
    (84, "ELECTION_NOT_NEEDED", "Broker: Leader election not needed for topic partition", True, True),
    (85, "NO_REASSIGNMENT_IN_PROGRESS", "Broker: No partition reassignment is in progress", False, False),
    (86, "GROUP_SUBSCRIBED_TO_TOPIC", "Broker: Group subscribed to topic", False, False),
    (87, "INVALID_RECORD", "Broker: Broker failed to validate record", False, False),
    (88, "UNSTABLE_OFFSET_COMMIT", "Broker: Unstable offset commit", True, False),
    (89, "THROTTLING_QUOTA_EXCEEDED", "Broker: Throttling quota has been exceeded", True, False),
    (90, "PRODUCER_FENCED", "Broker: Producer fenced", False, False),
    (91, "RESOURCE_NOT_FOUND", "Broker: Resource not found", False, False),
    (92, "DUPLICATE_RESOURCE", "Broker: Request illegally referred to the same resource twice", False, False),
    (
        93,
        "UNACCEPTABLE_CREDENTIAL",
        "Broker: Requested credential would not meet criteria for acceptability",
        False,
        False,
    ),
    (94, "INCONSISTENT_VOTER_SET", "Broker: Inconsistent voter set", False, False),
    (95, "INVALID_UPDATE_VERSION", "Broker: Invalid update version", False, False),
    (96, "FEATURE_UPDATE_FAILED", "Broker: Feature update failed", False, False),
    (
        97,
        "PRINCIPAL_DESERIALIZATION_FAILURE",
        "Broker: Request principal deserialization failed during forwarding",
        False,
        False,
    ),
    (98, "SNAPSHOT_NOT_FOUND", "Broker: Snapshot not found", False, False),
    (99, "POSITION_OUT_OF_RANGE", "Broker: Position out of range", False, False),
    (100, "UNKNOWN_TOPIC_ID", "Broker: Unknown topic id", True, True),
    (101, "DUPLICATE_BROKER_REGISTRATION", "Broker: Duplicate broker registration", False, False),
    (102, "BROKER_ID_NOT_REGISTERED", "Broker: Broker ID not registered", False, False),
    (103, "INCONSISTENT_TOPIC_ID", "Broker: Inconsistent topic ID", True, True),
    (104, "INCONSISTENT_CLUSTER_ID", "Broker: Inconsistent cluster ID", False, False),
    (105, "TRANSACTIONAL_ID_NOT_FOUND", "Broker: Transactional ID not found", False, False),
    (106, "FETCH_SESSION_TOPIC_ID_ERROR", "Broker: Fetch session topic ID error", True, False),
    (107, "INELIGIBLE_REPLICA", "Broker: Ineligible replica", False, False),
    (108, "NEW_LEADER_ELECTED", "Broker: New leader elected", False, False),
    (109, "OFFSET_MOVED_TO_TIERED_STORAGE", "Broker: Offset moved to tiered storage", False, False),
    (110, "FENCED_MEMBER_EPOCH", "Broker: Fenced member epoch", False, False),
    (111, "UNRELEASED_INSTANCE_ID", "Broker: Unreleased instance ID", False, False),
    (112, "UNSUPPORTED_ASSIGNOR", "Broker: Unsupported assignor", False, False),
    (113, "STALE_MEMBER_EPOCH", "Broker: The member epoch is stale", False, False),
    (114, "MISMATCHED_ENDPOINT_TYPE", "Broker: Mismatched endpoint type", False, False),
    (115, "UNSUPPORTED_ENDPOINT_TYPE", "Broker: This endpoint type is not supported yet", False, False),
    (116, "UNKNOWN_CONTROLLER_ID", "Broker: This controller ID is not known", False, False),
    (117, "UNKNOWN_SUBSCRIPTION_ID", "Broker: Unknown subscription ID", False, False),
    (118, "TELEMETRY_TOO_LARGE", "Broker: Telemetry too large", False, False),
    (119, "INVALID_REGISTRATION", "Broker: Invalid registration", False, False),
    (120, "TRANSACTION_ABORTABLE", "Broker: The server encountered an error with the transaction", False, False),
    (121, "INVALID_RECORD_STATE", "Broker: The record state is invalid", False, False),
    (122, "SHARE_SESSION_NOT_FOUND", "Broker: The share session was not found", True, False),
    (123, "INVALID_SHARE_SESSION_EPOCH", "Broker: The share session epoch is invalid", True, False),
    (124, "FENCED_STATE_EPOCH", "Broker: The share-group state epoch did not match", False, False),
    (125, "INVALID_VOTER_KEY", "Broker: Invalid voter key", False, False),
    (126, "DUPLICATE_VOTER", "Broker: Duplicate voter", False, False),
    (127, "VOTER_NOT_FOUND", "Broker: Voter not found", False, False),
    (128, "INVALID_REGULAR_EXPRESSION", "Broker: The regular expression is not valid", False, False),
    (129, "REBOOTSTRAP_REQUIRED", "Broker: Rebootstrap required", False, False),
    (130, "STREAMS_INVALID_TOPOLOGY", "Broker: The supplied topology is invalid", False, False),
    (131, "STREAMS_INVALID_TOPOLOGY_EPOCH", "Broker: The supplied topology epoch is invalid", False, False),
    (132, "STREAMS_TOPOLOGY_FENCED", "Broker: The supplied topology epoch is outdated", False, False),
    (133, "SHARE_SESSION_LIMIT_REACHED", "Broker: The limit of share sessions has been reached", True, False),
]

FACTS: Final[dict[int, ErrorFacts]] = {row[0]: ErrorFacts(*row[1:]) for row in ROWS}
