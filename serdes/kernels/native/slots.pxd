"""Attributes in slots, read where they lie in objects."""

from cpython.object cimport PyObject

cdef extern from "structmember.h":
    ctypedef struct PyMemberDef:
        int type
        Py_ssize_t offset
    ctypedef struct PyMemberDescrObject:
        PyMemberDef* d_member
    int T_OBJECT_EX

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        pass
    PyTypeObject PyMemberDescr_Type


cdef inline Py_ssize_t offset_of(kind, name) except? -1:
    """The offset of an attribute in objects of a class; -1 if it is in no slot."""
    cdef PyMemberDef* member
    for base in kind.__mro__:
        if name in vars(base):
            descriptor = vars(base)[name]
            if type(descriptor) is not <object><PyObject*>&PyMemberDescr_Type or descriptor.__objclass__ is not base:
                return -1
            member = (<PyMemberDescrObject*><PyObject*>descriptor).d_member
            return member.offset if member.type == T_OBJECT_EX else -1
    return -1


cdef inline PyObject* slot_of(value, Py_ssize_t offset) noexcept:
    """The object in a slot, borrowed; NULL for nothing."""
    return (<PyObject**>(<char*><PyObject*>value + offset))[0]
