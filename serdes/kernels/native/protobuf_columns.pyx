# cython: binding=False, auto_pickle=False, embedsignature=True, embedsignature.format=clinic
# cython: boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False, nonecheck=True
"""Protobuf payloads into Arrow columns: `serdes.columnar.protobuf` says what the columns are and what errors mean.

Columns here are slots, not streams: fields of a message come in any order, and the last one wins, so each row opens a
slot in every column, absent by default, and what comes writes into it. A sub-message that comes in parts merges for
free, because it writes into the same slots again. A bad row empties its slots. Free of Python objects inside a batch.
"""

from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_IsValid, PyCapsule_New
from libc.stdint cimport int8_t, int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t
from libc.stdio cimport snprintf
from libc.stdlib cimport calloc, free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from serdes.kernels.agreement import agree
from serdes.kernels.protobuf_columns import Content as Content_
from serdes.kernels.protobuf_columns import Store as Store_
from serdes.kernels.native.arrow cimport ArrowArray
from serdes.kernels.native.frames cimport Frames, Pinned
from serdes.kernels.native.octets cimport SHORT, is_short_ascii, is_utf8
from serdes.kernels.native.protobuf cimport (
    K_BOOL,
    K_BYTES,
    K_DOUBLE,
    K_DURATION,
    K_ENUM,
    K_FIXED32,
    K_FIXED64,
    K_FLOAT,
    K_INT64,
    K_JSON,
    K_MESSAGE,
    K_SFIXED32,
    K_SFIXED64,
    K_SINT32,
    K_SINT64,
    K_STRING,
    K_TIMESTAMP,
    K_UINT64,
)

# `Store` and `Content` of serdes.kernels.protobuf_columns
cdef enum Store:
    FIXED = 0
    BITS = 1
    BYTES = 2
    LIST = 3
    MAP = 4
    STRUCT = 5
    CASE = 6
    TIME = 7
    SYMBOL = 8

cdef enum Wrong:
    FINE = 0
    TRUNCATED = 1
    BAD_VARINT = 2
    BAD_TAG = 3
    BAD_UTF8 = 4
    BAD_GROUP = 5
    TOO_DEEP = 6
    MISSING = 7
    OUT_OF_RANGE = 8
    ROW_TOO_LARGE = 9
    COLUMN_FULL = 10
    BAD_PATH = 11
    OTHER_TYPE = 12
    REPEATED_KEY = 13
    NO_MEMORY = 14

cdef enum Content:
    C_STRUCT = 1
    C_ENTRY = 2
    C_VALUE = 3
    C_LIST = 4
    C_ANY = 5

cdef enum:
    MAX_DEPTH = 100
    MAX_PATH = 256
    DENSE = 1024

cdef int[9] STORES = [FIXED, BITS, BYTES, LIST, MAP, STRUCT, CASE, TIME, SYMBOL]
cdef int[6] CONTENTS = [0, C_STRUCT, C_ENTRY, C_VALUE, C_LIST, C_ANY]
agree(Store_, "FIXED BITS BYTES LIST MAP STRUCT CASE TIME SYMBOL", STORES)
agree(Content_, "NONE STRUCT ENTRY VALUE LIST ANY", CONTENTS)

cdef int64_t LARGEST = 2147483647
cdef int64_t FIRST_SECOND = -62135596800
cdef int64_t LAST_SECOND = 253402300799
cdef int64_t LONGEST_SECONDS = 315576000000
cdef int64_t NS_SECONDS = 9223372036

cdef struct Field:
    int32_t number
    int8_t kind
    int8_t shape
    int8_t wire
    int8_t kept
    int8_t wrapped
    int8_t delimited
    int8_t required
    int8_t packable
    int8_t closed
    int8_t verified
    int8_t content
    int32_t column
    int32_t holder
    int32_t message
    int32_t case_column
    int32_t case
    int32_t symbols
    int32_t place

cdef struct Message:
    int32_t count
    int32_t dense_count
    int32_t scope
    int32_t checks
    int32_t entry
    Field* fields
    int16_t* dense

cdef struct Symbols:
    int32_t count
    int32_t closed
    int32_t* numbers
    int32_t* starts
    char* text

cdef struct Column:
    int8_t store
    int8_t nullable
    int8_t width
    int8_t kind
    int32_t scope
    int32_t child_scope
    int32_t symbols
    int32_t child_count
    int32_t* children
    uint8_t* valid
    uint8_t* values
    uint8_t* extra
    uint8_t* data
    int64_t used
    int64_t room

cdef struct Scope:
    int64_t count
    int64_t room
    int64_t slot_bytes
    int32_t column_count
    int32_t* columns

cdef struct Run:
    Column* columns
    Scope* scopes
    const Message* messages
    const Symbols* symbols
    int64_t budget
    const uint8_t* end  # of the row's payload
    const uint8_t* at
    int64_t detail
    int32_t code
    int32_t depth
    int32_t nanoseconds
    int32_t suspect
    int32_t strange
    int32_t path_count
    int32_t path[MAX_PATH]

include "protobuf_wire.pxi"
include "protobuf_slots.pxi"
include "protobuf_message.pxi"


# --- rows


cdef struct Rows:
    int64_t count
    const uint8_t** payloads
    const int64_t* sizes
    const uint8_t** tails
    const int64_t* tail_sizes
    const uint8_t* bare
    const int32_t* plans
    const int32_t* paths
    const int32_t* path_starts
    int64_t most_bytes

cdef struct Complaints:
    int64_t* items
    int64_t used
    int64_t room


cdef const uint8_t* message_path(const Rows* rows, int32_t plan, const uint8_t* p, const uint8_t* end, int32_t* code) noexcept nogil:
    """Behind the path of a message type, which has to be one of the plan's; NULL with the reason in `code`."""
    cdef const int32_t* paths = rows.paths + rows.path_starts[plan]
    cdef int32_t several = paths[0]
    cdef int32_t i, j
    cdef uint64_t count, index
    cdef int64_t part
    cdef const uint8_t* here
    cdef bint same
    paths += 1
    if p < end and p[0] == 0:
        for i in range(several):
            if paths[0] == 1 and paths[1] == 0:
                return p + 1
            paths += 1 + paths[0]
        code[0] = OTHER_TYPE
        return NULL
    p = varint(p, end, &count, code)
    if p == NULL or count & 1 or count > 2000:
        code[0] = BAD_PATH
        return NULL
    count >>= 1
    for i in range(several):
        here = p
        same = <uint64_t> paths[0] == count
        for j in range(<int32_t> count):
            here = varint(here, end, &index, code)
            if here == NULL or index & 1:
                code[0] = BAD_PATH
                return NULL
            part = <int64_t> (index >> 1)
            same = same and paths[1 + j] == part
        if same:
            return here
        paths += 1 + paths[0]
    code[0] = OTHER_TYPE
    return NULL


cdef int complain(Complaints* list, int64_t row, const Run* run, const uint8_t* start) noexcept nogil:
    """Writes an error down: row, code, offset, parts of the path from the inside out."""
    cdef int64_t need = list.used + 4 + run.path_count
    cdef int64_t* grown
    cdef int64_t i
    if need > list.room:
        grown = <int64_t*> realloc(list.items, (need * 2 + 64) * sizeof(int64_t))
        if grown == NULL:
            return NO_MEMORY
        list.items = grown
        list.room = need * 2 + 64
    list.items[list.used] = row
    list.items[list.used + 1] = run.code
    list.items[list.used + 2] = run.at - start
    list.items[list.used + 3] = run.path_count
    for i in range(run.path_count):
        list.items[list.used + 4 + i] = run.path[i]
    list.used = need
    return FINE


cdef int read_rows(Run* run, const Rows* rows, uint8_t* valid, Complaints* complaints) noexcept nogil:
    """Reads all rows; an error ends its row only, unless memory is short."""
    cdef int64_t row
    cdef const uint8_t* start
    cdef const uint8_t* p
    cdef const uint8_t* end
    cdef const uint8_t* tail_end
    cdef const Message* root = run.messages
    cdef int wrong
    for row in range(rows.count):
        if rows.plans[row] < 0:
            continue
        start = rows.payloads[row]
        p = start
        end = start + rows.sizes[row]
        run.budget = rows.most_bytes
        run.end = end
        run.depth = 0
        run.suspect = 0
        run.strange = 0
        run.code = 0
        run.path_count = 0
        wrong = FINE
        if rows.bare != NULL and rows.bare[row]:
            pass
        elif rows.tails != NULL and rows.tails[row] != NULL:
            tail_end = rows.tails[row] + rows.tail_sizes[row]
            if message_path(rows, rows.plans[row], rows.tails[row], tail_end, &run.code) == NULL:
                wrong = wrong_at(run, run.code, start)
        else:
            p = message_path(rows, rows.plans[row], p, end, &run.code)
            if p == NULL:
                wrong = wrong_at(run, run.code, start)
            else:
                start = p
        if not wrong:
            wrong = read_message(run, root, row, p, end)
            if not wrong and (root.checks or run.suspect):
                wrong = complete(run, root, row, p)
        if wrong:
            clear_message(run, root, row)
            if wrong == NO_MEMORY or complain(complaints, row, run, start):
                return NO_MEMORY
        else:
            valid[row] = 1
    return FINE


include "protobuf_arrays.pxi"


# --- plans and batches


cdef class ColumnReader:
    """The tables of `serdes.columnar.protobuf.lowered` in C, for any number of batches and threads.

    Args:
        messages, columns, scopes, symbols: the tables, which were verified.
        nanoseconds: whether times have them.
    """

    cdef Message* messages
    cdef Column* columns
    cdef Scope* scopes
    cdef Symbols* symbols
    cdef int message_count, column_count, scope_count, symbol_count
    cdef int nanoseconds

    def __cinit__(self, list messages not None, list columns not None, list scopes not None, list symbols not None,
                  bint nanoseconds):
        cdef int i
        if not messages or not columns or not scopes:
            raise ValueError("there is no message without fields, columns and slots")
        self.nanoseconds = nanoseconds
        self.message_count, self.column_count = len(messages), len(columns)
        self.scope_count, self.symbol_count = len(scopes), len(symbols)
        self.messages = <Message*> calloc(self.message_count, sizeof(Message))
        self.columns = <Column*> calloc(self.column_count, sizeof(Column))
        self.scopes = <Scope*> calloc(self.scope_count, sizeof(Scope))
        self.symbols = <Symbols*> calloc(self.symbol_count + 1, sizeof(Symbols))
        if self.messages == NULL or self.columns == NULL or self.scopes == NULL or self.symbols == NULL:
            raise MemoryError
        for i in range(self.message_count):
            fill_message(&self.messages[i], messages[i])
        for i in range(self.column_count):
            fill_column(&self.columns[i], columns[i])
        for i in range(self.scope_count):
            fill_scope(&self.scopes[i], scopes[i])
        for i in range(self.symbol_count):
            fill_symbols(&self.symbols[i], symbols[i])

    def __dealloc__(self):
        cdef int i
        for i in range(self.message_count if self.messages != NULL else 0):
            free(self.messages[i].fields)
            free(self.messages[i].dense)
        for i in range(self.column_count if self.columns != NULL else 0):
            free(self.columns[i].children)
        for i in range(self.scope_count if self.scopes != NULL else 0):
            free(self.scopes[i].columns)
        for i in range(self.symbol_count if self.symbols != NULL else 0):
            free(self.symbols[i].numbers)
            free(self.symbols[i].starts)
            free(self.symbols[i].text)
        free(self.messages)
        free(self.columns)
        free(self.scopes)
        free(self.symbols)

    def read(self, Frames frames not None, plans not None, paths not None, path_starts not None,
             int64_t max_row_bytes, dict replaced not None):
        """Reads a batch without the GIL.

        Args:
            frames: the batch.
            plans: of each row, which of the plans its frame has; negative for a row that stays null. Native ints of 32
                bits (format `i`), as in both arguments below.
            paths: message types, per plan a count of paths, and each as its length and indexes.
            path_starts: where each plan's begin in `paths`.
            max_row_bytes: so many bytes one row may take in all columns.
            replaced: payloads that take the place of rows' own, without a path.

        Raises:
            MemoryError: there is none.
        """
        cdef ColumnBatch batch = ColumnBatch.__new__(ColumnBatch)
        cdef Rows rows
        cdef int wrong
        cdef int64_t count = frames.filled
        for numbers in (plans, paths, path_starts):
            if memoryview(numbers).format != "i":
                raise ValueError("plans and paths are native ints of 32 bits")
        cdef Pinned chosen = Pinned(plans)
        cdef Pinned steps = Pinned(paths)
        cdef Pinned starts = Pinned(path_starts)
        if chosen.size != 4 * count or starts.size == 0:
            raise ValueError("plans have a number for each row, and there is a plan")
        rows.count = count
        rows.payloads = frames.payloads
        rows.sizes = frames.sizes
        rows.tails = frames.tails
        rows.tail_sizes = frames.tail_sizes
        rows.bare = NULL
        rows.plans = <const int32_t*>chosen.data
        rows.paths = <const int32_t*>steps.data
        rows.path_starts = <const int32_t*>starts.data
        rows.most_bytes = max_row_bytes
        batch.start(self, count)
        if replaced:
            batch.give_others(&rows, replaced)
        with nogil:
            wrong = grow_scope(&batch.run, &batch.run.scopes[0], count + 1)
            if not wrong:
                batch.run.scopes[0].count = count
                wrong = read_rows(&batch.run, &rows, batch.valid, &batch.complaints)
        if wrong:
            raise MemoryError
        return batch


cdef class ColumnBatch:
    """A decoded batch: errors, and columns that are taken once."""

    cdef ColumnReader plan
    cdef Run run
    cdef uint8_t* valid
    cdef Complaints complaints
    cdef const uint8_t** payloads
    cdef int64_t* sizes
    cdef uint8_t* bare
    cdef dict replaced
    cdef bint taken

    cdef Column* column(self, int64_t number) except NULL:
        """A column that is there and not taken yet."""
        if self.plan is None or self.taken:
            raise ValueError("a batch is made by ColumnReader.read, and its columns are taken once")
        if not 0 <= number < self.plan.column_count:
            raise IndexError("there is no such column")
        return &self.run.columns[number]

    cdef give_others(self, Rows* rows, dict replaced):
        """Points some rows at other payloads, which have no path in front."""
        cdef bytes payload
        self.replaced = replaced
        self.payloads = <const uint8_t**> malloc((rows.count + 1) * sizeof(void*))
        self.sizes = <int64_t*> malloc((rows.count + 1) * sizeof(int64_t))
        self.bare = <uint8_t*> calloc(rows.count + 1, 1)
        if self.payloads == NULL or self.sizes == NULL or self.bare == NULL:
            raise MemoryError
        memcpy(self.payloads, rows.payloads, rows.count * sizeof(void*))
        memcpy(self.sizes, rows.sizes, rows.count * sizeof(int64_t))
        for row, payload in replaced.items():
            self.payloads[<int64_t> row] = <const uint8_t*> <const char*> payload
            self.sizes[<int64_t> row] = len(payload)
            self.bare[<int64_t> row] = 1
        rows.payloads, rows.sizes, rows.bare = self.payloads, self.sizes, self.bare

    cdef start(self, ColumnReader plan, int64_t count):
        self.plan = plan
        self.run.messages = plan.messages
        self.run.symbols = plan.symbols
        self.run.nanoseconds = plan.nanoseconds
        self.run.columns = <Column*> malloc(plan.column_count * sizeof(Column))
        self.run.scopes = <Scope*> malloc(plan.scope_count * sizeof(Scope))
        self.valid = <uint8_t*> calloc(count + 1, 1)
        if self.run.columns == NULL or self.run.scopes == NULL or self.valid == NULL:
            raise MemoryError
        memcpy(self.run.columns, plan.columns, plan.column_count * sizeof(Column))
        memcpy(self.run.scopes, plan.scopes, plan.scope_count * sizeof(Scope))

    def __dealloc__(self):
        cdef int i
        if self.run.columns != NULL:
            for i in range(self.plan.column_count):
                free(self.run.columns[i].valid)
                free(self.run.columns[i].values)
                free(self.run.columns[i].extra)
                free(self.run.columns[i].data)
        free(self.run.columns)
        free(self.run.scopes)
        free(self.valid)
        free(self.complaints.items)
        free(self.payloads)
        free(self.sizes)
        free(self.bare)

    def errors(self):
        """Rows that failed: (row, code, offset, path), the path from the outside in as (place, index) pairs."""
        found = []
        cdef int64_t at = 0
        cdef int64_t i, parts
        cdef int64_t* items = self.complaints.items
        while at < self.complaints.used:
            parts = items[at + 3]
            path = [(items[at + 4 + i], items[at + 5 + i]) for i in range(parts - 2, -1, -2)]
            found.append((items[at], items[at + 1], items[at + 2], path))
            at += 4 + parts
        return found

    def texts(self, int column):
        """The bytes of each slot of a column, None where it is absent."""
        cdef Column* found = self.column(column)
        cdef int64_t at = 0
        cdef int64_t i
        cdef int32_t size
        texts = []
        if found.store != BYTES:
            raise TypeError("only columns of bytes have texts")
        for i in range(self.run.scopes[found.scope].count):
            size = (<int32_t*> found.values)[i]
            texts.append((<char*> found.data + at)[:size] if size else (b"" if self._present(found, i) else None))
            at += size
        return texts

    cdef bint _present(self, Column* column, int64_t slot):
        if column.nullable:
            return column.valid[slot]
        return True

    def replace(self, int column, list texts not None):
        """Gives a column other bytes, one for each slot; None and b"" alike take no room."""
        cdef Column* found = self.column(column)
        cdef int64_t total = 0
        cdef int64_t at = 0
        cdef int64_t i
        cdef bytes text
        for text in texts:  # a TypeError if it is no bytes
            total += 0 if text is None else len(text)
        if found.store != BYTES:
            raise TypeError("only columns of bytes have texts")
        if total > LARGEST or len(texts) != self.run.scopes[found.scope].count:
            raise OverflowError("the texts of one column are more than 2 GiB: decode fewer rows at a time")
        cdef uint8_t* data = <uint8_t*> malloc(total + 8)
        if data == NULL:
            raise MemoryError
        for i, text in enumerate(texts):
            if text is None:
                text = b""
            memcpy(data + at, <const char*> text, len(text))
            at += len(text)
            (<int32_t*> found.values)[i] = <int32_t> len(text)
        free(found.data)
        found.data = data
        found.used = found.room = total

    def row_of(self, int column, int64_t slot):
        """The row in which a slot of a column is."""
        cdef int32_t scope = self.column(column).scope
        cdef int32_t holder = 0
        cdef int64_t total, i
        if not 0 <= slot < self.run.scopes[scope].count:
            raise IndexError("there is no such slot")
        while scope != 0:
            for holder in range(self.plan.column_count):
                if self.run.columns[holder].child_scope == scope:
                    break
            total = i = 0
            while total + (<int32_t*> self.run.columns[holder].values)[i] <= slot:
                total += (<int32_t*> self.run.columns[holder].values)[i]
                i += 1
            slot = i
            scope = self.run.columns[holder].scope
        return slot

    def finish(self):
        """The capsule of a struct array of all columns; once.

        Raises:
            MemoryError: there is none, or names of an enum are more than 2 GiB.
        """
        cdef ArrowArray* array
        cdef Column* root = self.column(0)
        self.taken = True
        root.valid = self.valid
        self.valid = NULL
        with nogil:
            array = finished(&self.run, 0, NULL)
        if array == NULL:
            raise MemoryError
        return PyCapsule_New(array, "arrow_array", drop_capsule)


cdef const int32_t* numbers_in(bytes given, int64_t parts, int32_t* count) except NULL:
    """Native ints of 32 bits, so many for each thing."""
    if len(given) % (4 * parts):
        raise ValueError("a table that is not of this kernel")
    count[0] = <int32_t> (len(given) // (4 * parts))
    return <const int32_t*> <const char*> given


cdef fill_message(Message* message, tuple made):
    cdef int i
    cdef int32_t largest = -1
    cdef Field* field
    cdef const int32_t* row
    cdef bytes fields
    message.scope, message.checks, message.entry, fields = made
    row = numbers_in(fields, 19, &message.count)
    message.fields = <Field*> calloc(message.count + 1, sizeof(Field))
    if message.fields == NULL:
        raise MemoryError
    for i in range(message.count):
        field = &message.fields[i]
        field.number = row[0]
        field.kind = <int8_t> row[1]
        field.shape = <int8_t> row[2]
        field.wire = <int8_t> row[3]
        field.kept = <int8_t> row[4]
        field.wrapped = <int8_t> row[5]
        field.delimited = <int8_t> row[6]
        field.required = <int8_t> row[7]
        field.packable = <int8_t> row[8]
        field.closed = <int8_t> row[9]
        field.verified = <int8_t> row[10]
        field.content = <int8_t> row[11]
        field.column = row[12]
        field.holder = row[13]
        field.message = row[14]
        field.case_column = row[15]
        field.case = row[16]
        field.symbols = row[17]
        field.place = row[18]
        row += 19
        if field.number < DENSE:
            largest = field.number
    message.dense = <int16_t*> malloc((largest + 2) * 2)
    if message.dense == NULL:
        raise MemoryError
    message.dense_count = largest + 1
    memset(message.dense, 0xFF, (largest + 2) * 2)
    for i in range(message.count):
        if message.fields[i].number < DENSE:
            message.dense[message.fields[i].number] = <int16_t> i


cdef fill_column(Column* column, tuple made):
    cdef bytes facts
    cdef list children
    cdef const int32_t* row
    cdef int32_t count
    facts, children = made
    row = numbers_in(facts, 7, &count)
    if count != 1:
        raise ValueError("a table that is not of this kernel")
    column.store = <int8_t> row[0]
    column.nullable = <int8_t> row[1]
    column.width = <int8_t> row[2]
    column.kind = <int8_t> row[3]
    column.scope = row[4]
    column.child_scope = row[5]
    column.symbols = row[6]
    column.child_count = len(children)
    column.children = numbers_of(children)


cdef fill_scope(Scope* scope, tuple made):
    cdef list columns
    scope.slot_bytes, columns = made
    scope.column_count = len(columns)
    scope.columns = numbers_of(columns)


cdef int32_t* numbers_of(list given) except NULL:
    cdef int i
    cdef int32_t* made = <int32_t*> malloc((len(given) + 1) * 4)
    if made == NULL:
        raise MemoryError
    for i in range(<int> len(given)):
        made[i] = given[i]
    return made


cdef fill_symbols(Symbols* symbols, tuple made):
    cdef int i
    cdef bytes text
    cdef list numbers, names
    symbols.closed, numbers, names = made
    text = b"".join(names)
    symbols.numbers = numbers_of(numbers)
    symbols.starts = <int32_t*> malloc((len(names) + 1) * 4)
    symbols.text = <char*> calloc(len(text) + SHORT, 1)
    if symbols.starts == NULL or symbols.text == NULL:
        raise MemoryError
    symbols.count = len(numbers)
    memcpy(symbols.text, <const char*> text, len(text))
    symbols.starts[0] = 0
    for i in range(symbols.count):
        symbols.starts[i + 1] = symbols.starts[i] + <int32_t> len(<bytes> names[i])
