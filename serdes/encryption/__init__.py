"""Client-side encryption: fields by tag (`ENCRYPT`) and whole payloads (`ENCRYPT_PAYLOAD`).

Needs the extra `encryption`; key management services have extras of their own.
"""

from serdes.encryption.executor import EncryptionExecutor, FieldEncryptionExecutor
from serdes.encryption.kms import KmsClient, KmsDriver, register_kms_driver, reset_kms_drivers

__all__ = [
    "EncryptionExecutor",
    "FieldEncryptionExecutor",
    "KmsClient",
    "KmsDriver",
    "register_kms_driver",
    "reset_kms_drivers",
]
