# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
# cython: boundscheck=False, wraparound=False, cdivision=True, nonecheck=True
"""Records as objects of users' classes, compiled. The twin of `pure/avro_objects.py`, which is the specification.

Attributes in slots are read and set where they lie in the object. What a shape says beside `make` is a shorter way to
the same object.
"""

import sys

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE, PyTuple_New, PyTuple_SET_ITEM
from libc.stdint cimport int64_t

from serdes.kernels.misfit import Misfit
from serdes.kernels.shape import Shape, Way

from serdes.kernels.native.avro cimport (
    Out,
    Reader,
    ReadRecord,
    Source,
    WriteNull,
    WriteRecord,
    Writer,
    deeper,
    fresh_value,
    misplaced,
    put_long,
    sink,
)
from serdes.kernels.native.slots cimport offset_of, slot_of

cdef extern from "Python.h":
    ctypedef struct PyTypeObject:
        object (*tp_alloc)(PyTypeObject*, Py_ssize_t)
        object (*tp_new)(PyTypeObject*, PyObject*, PyObject*)
    PyObject* PyDict_GetItemWithError(object, object) except? NULL
    int PyObject_GenericSetAttr(object, object, object) except -1
    object PyObject_GetAttr(object, object)
    object PyObject_Vectorcall(object, PyObject* const*, size_t, PyObject*)
    ctypedef struct PyTupleObject:
        PyObject* ob_item[1]

cdef int MAKE = 0, FIELDS = 1, CALL = 2, INIT = 3, FILL = 4, TUPLE = 5
cdef dict WAYS = {
    Way.MAKE: MAKE, Way.FIELDS: FIELDS, Way.CALL: CALL, Way.INIT: INIT, Way.FILL: FILL, Way.TUPLE: TUPLE
}


cdef Py_ssize_t* numbers(list found) except NULL:
    """An array of numbers, to be freed."""
    cdef Py_ssize_t at
    cdef Py_ssize_t* made = <Py_ssize_t*>PyMem_Malloc(max(len(found), 1) * sizeof(Py_ssize_t))
    if made == NULL:
        raise MemoryError()
    for at in range(len(found)):
        made[at] = found[at]
    return made


# --- writing


cdef class WriteObject(WriteRecord):
    """An object of exactly one class, by its attributes."""

    cdef object shape, kind, take
    cdef tuple fields, required
    cdef Py_ssize_t* places  # of the schema's fields in the class; -1 for none
    cdef Py_ssize_t* offsets  # of the schema's fields in objects; -1 for attributes without a slot
    cdef bint keyed, positional, surplus
    cdef Writer otherwise

    def __init__(self, what, bint strict, bint allow_default, shape):
        self.shape = shape
        self.kind = shape.kind
        self.fields = shape.fields
        self.take = shape.take
        self.keyed = shape.kind is dict
        self.positional = shape.way is Way.TUPLE
        self.otherwise = WriteNull()
        WriteRecord.__init__(self, what, strict, allow_default)

    def __dealloc__(self):
        PyMem_Free(self.places)
        PyMem_Free(self.offsets)

    def beside(self, Writer otherwise not None):
        """Says what writes values that are not of the class."""
        self.otherwise = otherwise

    def fill(self, fields):
        """Says what the fields are."""
        WriteRecord.fill(self, fields)
        known = {name: at for at, name in enumerate(self.shape.fields)}
        PyMem_Free(self.places)
        self.places = NULL
        self.places = numbers([known.get(name, -1) for name in self.names])
        PyMem_Free(self.offsets)
        self.offsets = NULL
        self.offsets = numbers([-1 if self.keyed else offset_of(self.kind, name) for name in self.names])
        self.required = tuple(self.shape.required)
        self.surplus = not self.known.issuperset(self.shape.fields)

    cdef int write(self, Out* out, object value) except -1:
        if type(value) is not self.kind:
            return self.otherwise.write(out, value)
        if self.keyed:
            return self.write_keys(out, value)
        return self.write_attributes(out, value)

    cdef int write_keys(self, Out* out, dict value) except -1:
        cdef Py_ssize_t found = 0
        for name in self.fields:
            found += name in value
        if found != len(value):
            return self.otherwise.write(out, value)
        for name in self.required:
            if name not in value:
                return self.otherwise.write(out, value)
        return WriteRecord.write(self, out, value)

    cdef int write_attributes(self, Out* out, object value) except -1:
        cdef Py_ssize_t at = 0
        cdef object values = None
        if self.strict and self.surplus:
            return WriteRecord.write(self, out, {name: getattr(value, name) for name in self.shape.fields})
        if self.positional:
            if PyTuple_GET_SIZE(value) == PyTuple_GET_SIZE(self.fields):  # `tuple.__new__` makes shorter ones
                values = value
        elif self.take is not None:
            values = self.take(value)
        deeper(out)
        if (<WriteAttributes>write_attributes)(self, out, value, values, &at) < 0:
            misplaced(self.names, at)
        out.depth -= 1
        return 0


ctypedef int (*WriteAttributes)(WriteObject, Out*, object, object, Py_ssize_t*) noexcept


cdef int write_attributes(WriteObject self, Out* out, object value, object values, Py_ssize_t* reached) except -1:
    """Writes what a tuple has, or without one the attributes of an object."""
    cdef Py_ssize_t at, place, offset
    cdef tuple names = self.names, nodes = self.nodes
    cdef PyObject* slot
    for at in range(PyTuple_GET_SIZE(names)):
        reached[0] = at
        place = self.places[at]
        if place < 0:
            self.missing(out, at)
            continue
        if values is not None:
            item = <object>PyTuple_GET_ITEM(values, place)
        else:
            offset = self.offsets[at]
            slot = NULL if offset < 0 else slot_of(value, offset)
            if slot != NULL:
                item = <object>slot
            else:
                item = PyObject_GetAttr(value, <object>PyTuple_GET_ITEM(names, at))
        (<Writer>PyTuple_GET_ITEM(nodes, at)).write(out, item)
    return 0


cdef class WriteMember(Writer):
    """A member of a Python enum, as the symbol of an Avro one."""

    cdef tuple members, places
    cdef Writer otherwise

    def __init__(self, places, Writer otherwise not None):
        self.members = tuple(places)
        self.places = tuple([int(place) for place in places.values()])
        self.otherwise = otherwise

    cdef int write(self, Out* out, object value) except -1:
        cdef Py_ssize_t at
        for at in range(len(self.members)):
            if PyTuple_GET_ITEM(self.members, at) == <PyObject*>value:
                return put_long(out, <object>PyTuple_GET_ITEM(self.places, at))
        return self.otherwise.write(out, value)


cdef class WriteByClass(Writer):
    """Values by their exact class: branches of a union, or forms of one type."""

    cdef dict table
    cdef Writer otherwise

    def __init__(self, Writer otherwise not None):
        self.table = {}
        self.otherwise = otherwise

    def fill(self, table):
        """Says what writes which class: the place of its branch (None if there is no union) and a node."""
        for _, node in table.values():
            if not isinstance(node, Writer):
                raise TypeError("a node is needed")
        self.table = {kind: (-1 if place is None else int(place), node) for kind, (place, node) in table.items()}

    cdef int write(self, Out* out, object value) except -1:
        cdef PyObject* found = PyDict_GetItemWithError(self.table, type(value))
        cdef int64_t place
        if found == NULL:
            return self.otherwise.write(out, value)
        place = <object>PyTuple_GET_ITEM(<tuple>found, 0)
        if place >= 0:
            put_long(out, place)
        return (<Writer>PyTuple_GET_ITEM(<tuple>found, 1)).write(out, value)


# --- reading


cdef class ReadObject(ReadRecord):
    """An object of a class, of fields in the writer's order and what the reader adds."""

    cdef object shape, kind, make, init
    cdef int way
    cdef Py_ssize_t first  # how many items stand before the fields of what `__init__` is called with
    cdef bint ordered
    cdef tuple fields, arguments
    cdef Py_ssize_t* places  # of the steps in the class; -1 for what is skipped
    cdef Py_ssize_t* offsets  # of the class's fields in objects; -1 for attributes without a slot
    cdef tuple added  # place and value of constants

    def __init__(self, shape):
        self.shape = shape
        self.kind = shape.kind
        self.make = shape.make
        self.fields = tuple([sys.intern(name) for name in shape.fields])
        self.arguments = shape.arguments
        self.init, self.ordered = shape.init or (None, False)
        if not may_be_made(shape.kind, shape.way):
            raise TypeError(f"objects of {shape.kind} can't be made by {shape.way}")
        self.way = MAKE
        ReadRecord.__init__(self)

    def __dealloc__(self):
        PyMem_Free(self.places)
        PyMem_Free(self.offsets)

    def fill(self, steps, constants, fresh):
        """Says what the fields are."""
        ReadRecord.fill(self, steps, constants, fresh)
        known = {name: at for at, name in enumerate(self.fields)}
        given = [name for name, kept, _ in steps if kept] + list(self.constants) + [name for name, _, _ in self.fresh]
        whole = sorted(given) == sorted(known)
        self.way = WAYS[self.shape.way] if whole else MAKE
        self.first = self.way == INIT
        PyMem_Free(self.places)
        self.places = NULL
        self.places = numbers([known.get(name, -1) if kept else -1 for name, kept, _ in steps])
        self.added = tuple([(known[name], value) for name, value in self.constants.items()]) if whole else ()
        PyMem_Free(self.offsets)
        self.offsets = NULL
        self.offsets = numbers([offset_of(self.kind, name) if self.way == FILL else -1 for name in self.fields])

    cdef object read(self, Source* source):
        if self.way == MAKE:
            return self.made(ReadRecord.read(self, source))
        if self.way == FIELDS:
            return ReadRecord.read(self, source)
        cdef object made
        cdef Py_ssize_t at = 0
        if self.way == CALL or self.way == INIT:
            made = PyTuple_New(PyTuple_GET_SIZE(self.fields) + self.first)
            if self.first:
                value = new_object(self.kind)
                Py_INCREF(value)
                PyTuple_SET_ITEM(made, 0, value)
        else:
            made = new_tuple(self.kind, PyTuple_GET_SIZE(self.fields)) if self.way == TUPLE else new_object(self.kind)
        sink(source)
        if (<ReadFields>read_fields)(self, source, made, &at) < 0:
            misplaced(self.names, at)
        for added, value in self.added:
            self.put(made, added, value)
        for name, data, node in self.fresh:
            self.put(made, self.fields.index(name), fresh_value(name, data, node))
        source.depth -= 1
        if self.way == CALL:
            return self.called(made)
        return self.initialised(made) if self.way == INIT else made

    cdef inline int put(self, object made, Py_ssize_t place, object value) except -1:
        cdef Py_ssize_t offset
        if self.way != FILL:
            Py_INCREF(value)
            PyTuple_SET_ITEM(made, place + self.first, value)
            return 0
        offset = self.offsets[place]
        if offset < 0:
            return PyObject_GenericSetAttr(made, <object>PyTuple_GET_ITEM(self.fields, place), value)
        Py_INCREF(value)
        (<PyObject**>(<char*><PyObject*>made + offset))[0] = <PyObject*>value
        return 0

    cdef object made(self, object fields):
        try:
            return self.make(fields)
        except (MemoryError, RecursionError, Misfit):
            raise
        except Exception as error:
            raise self.shape.unmade(error) from error

    cdef object called(self, tuple values):
        cdef PyObject** items
        try:
            items = &(<PyTupleObject*><PyObject*>values).ob_item[0]
            return PyObject_Vectorcall(self.kind, items, 0, <PyObject*>self.arguments)
        except (MemoryError, RecursionError, Misfit):
            raise
        except Exception as error:
            raise self.shape.unmade(error) from error

    cdef object initialised(self, tuple values):
        cdef PyObject** items = &(<PyTupleObject*><PyObject*>values).ob_item[0]
        try:
            if self.ordered:
                PyObject_Vectorcall(self.init, items, PyTuple_GET_SIZE(values), NULL)
            else:
                PyObject_Vectorcall(self.init, items, 1, <PyObject*>self.arguments)
        except (MemoryError, RecursionError, Misfit):
            raise
        except Exception as error:
            raise self.shape.unmade(error) from error
        return values[0]


ctypedef int (*ReadFields)(ReadObject, Source*, object, Py_ssize_t*) noexcept


cdef int read_fields(ReadObject self, Source* source, object made, Py_ssize_t* reached) except -1:
    cdef Py_ssize_t at, place
    cdef tuple nodes = self.nodes
    cdef Py_ssize_t* places = self.places
    for at in range(PyTuple_GET_SIZE(nodes)):
        reached[0] = at
        value = (<Reader>PyTuple_GET_ITEM(nodes, at)).read(source)
        place = places[at]
        if place >= 0:
            self.put(made, place, value)
    return 0


cdef bint may_be_made(kind, way) except -1:
    # What is done to an object without asking its class must be what its class does.
    if way is Way.TUPLE:
        return isinstance(kind, type) and issubclass(kind, tuple)
    if way is Way.INIT or way is Way.FILL:
        return isinstance(kind, type) and kind.__new__ is object.__new__
    return True


cdef tuple NOTHING = ()


cdef inline object new_object(kind):
    # As `object.__new__`, which both ways ask for: it also gives the object room for its attributes (Python 3.11).
    return (<PyTypeObject*><PyObject*>kind).tp_new(<PyTypeObject*><PyObject*>kind, <PyObject*>NOTHING, NULL)


cdef inline object new_tuple(kind, Py_ssize_t items):
    return (<PyTypeObject*><PyObject*>kind).tp_alloc(<PyTypeObject*><PyObject*>kind, items)
