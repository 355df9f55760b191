# cython: language_level=3, boundscheck=False, wraparound=False
# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
"""CRC-32C, murmur2 and FNV-1a over any buffer; the twin of `pure/hashes.py`.

Must not know of records or partitions. Spec: RFC 3720 B.4; Utils.murmur2 of kafka-clients; FNV-1a 32 bit.
"""

from libc.stdint cimport uint32_t
from kafka_core.kernels.native.wire cimport ks_crc32c, ks_crc_init, ks_fnv1a, ks_murmur2

ks_crc_init()


def crc32c(const unsigned char[::1] data not None, uint32_t value=0):
    """CRC-32C (Castagnoli) of `data`, going on from `value`; without the GIL."""
    cdef Py_ssize_t size = data.shape[0]
    cdef const unsigned char* start = &data[0] if size else NULL
    with nogil:
        value = ks_crc32c(value, start, <size_t>size)
    return value


def murmur2(const unsigned char[::1] data not None):
    """The hash of Java's default partitioner, as an unsigned 32-bit number."""
    return ks_murmur2(&data[0] if data.shape[0] else NULL, <size_t>data.shape[0])


def fnv1a(const unsigned char[::1] data not None):
    """FNV-1a, unsigned 32 bit."""
    return ks_fnv1a(&data[0] if data.shape[0] else NULL, <size_t>data.shape[0])
