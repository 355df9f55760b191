# cython: language_level=3, boundscheck=False, wraparound=False
# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
"""Variable-length integers; the twin of `pure/varint.py`.

Must not know of records. Spec: kafka.apache.org/protocol (VARINT, VARLONG, UNSIGNED_VARINT), KIP-482.
"""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.bytes cimport PyBytes_FromStringAndSize
from libc.stdint cimport int64_t, uint8_t, uint64_t
from kafka_core.kernels.native.wire cimport (
    ks_get_uvarint,
    ks_get_varint64,
    ks_put_uvarint,
    ks_put_varint,
)

from kafka_core.errors import ProtocolError


def encode_uvarint(uint64_t value):
    """The bytes of an unsigned number below 2**64."""
    cdef uint8_t[10] out
    cdef uint8_t* end = ks_put_uvarint(out, value)
    return PyBytes_FromStringAndSize(<char*>out, end - out)


def encode_varint(int64_t value):
    """The bytes of a signed 64-bit number, zigzag."""
    cdef uint8_t[10] out
    cdef uint8_t* end = ks_put_varint(out, value)
    return PyBytes_FromStringAndSize(<char*>out, end - out)


def decode_uvarint(data not None, Py_ssize_t position=0):
    """(number, position behind it).

    Raises:
        ProtocolError: the data ends inside it, or it is longer than 64 bits.
    """
    cdef uint64_t value
    cdef Py_buffer view
    cdef const uint8_t* start
    cdef const uint8_t* end = NULL
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    start = <const uint8_t*>view.buf
    if 0 <= position < view.len:
        end = ks_get_uvarint(start + position, start + view.len, 10, &value)
    PyBuffer_Release(&view)
    if end == NULL:
        raise ProtocolError(f"no varint at byte {position} of {view.len}")
    return value, end - start


def decode_varint(data not None, Py_ssize_t position=0):
    """(signed number, position behind it), zigzag.

    Raises:
        ProtocolError: the data ends inside it, or it is longer than 64 bits.
    """
    cdef int64_t value
    cdef Py_buffer view
    cdef const uint8_t* start
    cdef const uint8_t* end = NULL
    PyObject_GetBuffer(data, &view, PyBUF_SIMPLE)
    start = <const uint8_t*>view.buf
    if 0 <= position < view.len:
        end = ks_get_varint64(start + position, start + view.len, &value)
    PyBuffer_Release(&view)
    if end == NULL:
        raise ProtocolError(f"no varint at byte {position} of {view.len}")
    return value, end - start
