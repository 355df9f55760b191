# CRC-32C, murmur2 and FNV-1a over any buffer, part of record_batch.pyx; the twins of `pure/hashes.py`.
#
# Must not know of records or partitions. Spec: RFC 3720 B.4; Utils.murmur2 of kafka-clients; FNV-1a 32 bit.
# Buffers are asked for by hand: Cython's typed memory views are slower, and bring 100 kB of code.

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from kafka_core.kernels.native.wire cimport ks_fnv1a, ks_murmur2


def crc32c(data not None, uint32_t value=0):
    """CRC-32C (Castagnoli) of `data`, going on from `value`; without the GIL."""
    cdef Py_buffer view
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    with nogil:
        value = ks_crc32c(value, <const uint8_t*>view.buf, <size_t>view.len)
    PyBuffer_Release(&view)
    return value


def murmur2(data not None):
    """The hash of Java's default partitioner, as an unsigned 32-bit number."""
    cdef Py_buffer view
    cdef uint32_t found
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    found = ks_murmur2(<const uint8_t*>view.buf, <size_t>view.len)
    PyBuffer_Release(&view)
    return found


def fnv1a(data not None):
    """FNV-1a, unsigned 32 bit."""
    cdef Py_buffer view
    cdef uint32_t found
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    found = ks_fnv1a(<const uint8_t*>view.buf, <size_t>view.len)
    PyBuffer_Release(&view)
    return found
