"""The functions of libgssapi_krb5 that an initiator needs, bound with ctypes, and their errors as exceptions.

Must not know SASL or the configuration. Nothing has to be compiled for it: whoever uses Kerberos has the library.
Spec: RFC 2743, RFC 2744 (C bindings); MIT Kerberos for credential stores (`gss_acquire_cred_from`).
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping
from ctypes import POINTER, byref, c_char_p, c_int, c_size_t, c_uint32, c_void_p
from typing import Any, Final

NAMES: Final = ("libgssapi_krb5.so.2", "libgssapi_krb5.dylib")

MUTUAL, REPLAY, SEQUENCE, INTEGRITY = 2, 4, 8, 32
_CONTINUE_NEEDED: Final = 1
_FAILED: Final = 0xFFFF0000
_INITIATE: Final = 1
_STATUS_GENERAL, _STATUS_MECHANISM = 1, 2


class _Buffer(ctypes.Structure):
    """`kept` is what `value` points to, where the octets are ours."""

    _fields_ = (("length", c_size_t), ("value", c_void_p))
    kept: object = None


class _Oid(ctypes.Structure):
    _fields_ = (("length", c_uint32), ("elements", c_char_p))


class _OidSet(ctypes.Structure):
    _fields_ = (("count", c_size_t), ("elements", POINTER(_Oid)))


class _Pair(ctypes.Structure):
    _fields_ = (("key", c_char_p), ("value", c_char_p))


class _Pairs(ctypes.Structure):
    _fields_ = (("count", c_uint32), ("elements", POINTER(_Pair)))


def _oid(octets: bytes) -> _Oid:
    return _Oid(len(octets), octets)


KERBEROS: Final = _oid(b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x02")
PRINCIPAL: Final = _oid(b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x02\x01")
HOST_BASED_SERVICE: Final = _oid(b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x01\x04")


NOT_REACHED: Final = frozenset({
    -1765328228,  # KRB5_KDC_UNREACH: cannot contact any KDC
    -1765328164,  # KRB5_REALM_CANT_RESOLVE: the name of a KDC has no address
    -1765328355,  # KRB5KDC_ERR_SVC_UNAVAILABLE: it answers that it cannot work now
})  # fmt: skip
"""Codes of MIT Kerberos by which nobody was refused: later the same call may succeed."""


class GssError(Exception):
    """The library's error for a failed call.

    Attributes:
        passes: whether the KDC could not be asked, so that nothing has been decided.
    """

    def __init__(self, text: str, minor: int = 0) -> None:
        super().__init__(text)
        self.passes = ctypes.c_int32(minor).value in NOT_REACHED


class Library:
    """The library, loaded; its handles are released by their owners (`Handle`).

    Raises:
        OSError: there is none, or one without credential stores.
    """

    def __init__(self) -> None:
        self._library = _loaded()
        for name in ("gss_import_name", "gss_acquire_cred_from", "gss_init_sec_context", "gss_wrap", "gss_unwrap"):
            self._function(name)

    def _function(self, name: str) -> Any:
        try:
            function = getattr(self._library, name)
        except AttributeError as error:
            raise OSError(f"libgssapi_krb5 has no {name}") from error
        function.restype = c_uint32
        return function

    def name(self, text: str, kind: _Oid) -> Handle:
        """A principal or a service."""
        handle = Handle(lambda value: self._release("gss_release_name", value))
        self._call("gss_import_name", byref(_buffer(text.encode())), byref(kind), byref(handle.value))
        return handle

    def credentials(self, name: Handle, store: Mapping[str, str]) -> Handle:
        """The tickets of a principal, asked for or taken from a cache; may wait for the KDC.

        Args:
            store: `ccache`, `client_keytab`: where to look.
        """
        pairs = (_Pair * len(store))(*(_Pair(key.encode(), value.encode()) for key, value in store.items()))
        where = _Pairs(len(store), pairs)
        kinds = _OidSet(1, ctypes.pointer(KERBEROS))
        handle = Handle(lambda value: self._release("gss_release_cred", value))
        arguments = (name.value, c_uint32(0), byref(kinds), c_int(_INITIATE), byref(where), byref(handle.value))
        self._call("gss_acquire_cred_from", *arguments, None, None)
        return handle

    def context(self) -> Handle:
        """A security context that has not begun."""
        return Handle(lambda value: self._call("gss_delete_sec_context", byref(value), None))

    def step(
        self, context: Handle, credentials: Handle | None, target: Handle, flags: int, token: bytes
    ) -> tuple[bytes, bool]:
        """One step of a context: what is to be sent, and whether it is established. The first may wait for the KDC."""
        answer = _Buffer()
        own = None if credentials is None else credentials.value
        arguments = (own, byref(context.value), target.value, byref(KERBEROS), c_uint32(flags), c_uint32(0), None)
        coming = byref(_buffer(token)) if token else None
        status = self._call("gss_init_sec_context", *arguments, coming, None, byref(answer), None, None)
        return self._taken(answer), not status & _CONTINUE_NEEDED

    def wrap(self, context: Handle, message: bytes) -> bytes:
        """The message with a proof of its integrity, not encrypted."""
        answer = _Buffer()
        self._call("gss_wrap", context.value, c_int(0), c_uint32(0), byref(_buffer(message)), None, byref(answer))
        return self._taken(answer)

    def unwrap(self, context: Handle, message: bytes) -> bytes:
        """The other side's message, unwrapped and checked."""
        answer = _Buffer()
        self._call("gss_unwrap", context.value, byref(_buffer(message)), byref(answer), None, None)
        return self._taken(answer)

    def _call(self, name: str, *arguments: object) -> int:
        minor = c_uint32()
        status: int = self._function(name)(byref(minor), *arguments)
        if status & _FAILED:
            texts = (*self._texts(status, _STATUS_GENERAL), *self._texts(minor.value, _STATUS_MECHANISM))
            raise GssError("; ".join(texts), minor.value)
        return status

    def _texts(self, status: int, kind: int) -> list[str]:
        display = self._function("gss_display_status")
        minor, more, found = c_uint32(), c_uint32(), list[str]()
        while status:
            text = _Buffer()
            failed = display(byref(minor), c_uint32(status), c_int(kind), byref(KERBEROS), byref(more), byref(text))
            if failed & _FAILED:
                return [*found, f"status {status:#x}"]
            found.append(self._taken(text).decode(errors="replace"))
            if not more.value:
                break
        return found

    def _taken(self, buffer: _Buffer) -> bytes:
        """The octets of a buffer of the library's, which is released."""
        octets = ctypes.string_at(buffer.value, buffer.length) if buffer.value else b""
        self._release("gss_release_buffer", buffer)
        return octets

    def _release(self, name: str, value: Any) -> None:
        minor = c_uint32()
        self._function(name)(byref(minor), byref(value))


class Handle:
    """Something of the library's, released with this object."""

    def __init__(self, release: Callable[[c_void_p], object]) -> None:
        self.value = c_void_p()
        self._release = release

    def __del__(self) -> None:
        if self.value:
            self._release(self.value)


def _buffer(octets: bytes) -> _Buffer:
    kept = ctypes.create_string_buffer(octets, len(octets))
    buffer = _Buffer(len(octets), ctypes.cast(kept, c_void_p))
    buffer.kept = kept
    return buffer


def _loaded() -> ctypes.CDLL:
    errors = []
    for name in NAMES:
        try:
            return ctypes.CDLL(name)
        except OSError as error:
            errors.append(str(error))
    raise OSError("; ".join(errors))
