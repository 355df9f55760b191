# A request that lacks only its records, which produce() sends itself: a part of accumulator.pyx (decision 0109).

cdef extern from *:
    """
    #ifdef _WIN32
    static int ks_can_send(void) { return 0; }
    static long ks_send(int fd, const void *data, size_t size) { (void)fd; (void)data; (void)size; return -1; }
    #else
    #include <sys/socket.h>
    #ifndef MSG_NOSIGNAL
    #define MSG_NOSIGNAL 0  /* Python ignores SIGPIPE */
    #endif
    static int ks_can_send(void) { return 1; }
    static long ks_send(int fd, const void *data, size_t size) {
        return (long)send(fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);
    }
    #endif
    """
    bint ks_can_send() nogil
    long ks_send(int fd, const void* data, size_t size) nogil

cdef Py_ssize_t MOST_SENT = 16384   # bytes of records: what is copied once more, and checked with the GIL held


cdef class PreparedRequest:
    """A ProduceRequest for one batch of one partition, but for its records; used once.

    Args:
        fileno: gives the descriptor of the socket, below 0 once it is closed.
        head: the request from behind its size to before the length of the records.
        tail: what stands behind the records.
        producer_id, producer_epoch, base_sequence: of the batch.

    Attributes:
        quiet: the loop looks at it soon by itself, and need not be woken when it was used.
        batch: what it was used for; None as long as it was not.
        frame: what was sent, or was to be.
        sent_bytes: how much of that the socket took.
    """

    cdef object fileno
    cdef bytes head
    cdef bytes tail
    cdef int64_t producer_id
    cdef int producer_epoch
    cdef int base_sequence
    cdef bint usable
    cdef public bint quiet
    cdef readonly Batch batch
    cdef readonly bytes frame
    cdef readonly Py_ssize_t sent_bytes

    def __cinit__(self, fileno, bytes head not None, bytes tail not None, int64_t producer_id, int producer_epoch,
                  int base_sequence):
        self.fileno, self.head, self.tail = fileno, head, tail
        self.producer_id, self.producer_epoch, self.base_sequence = producer_id, producer_epoch, base_sequence
        self.usable = True

    def withdraw(self):
        """From now on it is not used any more; whether it was."""
        self.usable = False
        return self.batch is not None

    cdef bytes frame_of(self, Batch batch):
        """The whole frame. Runs no Python code."""
        cdef Py_ssize_t records = batch.memory.size
        cdef Py_ssize_t head = PyBytes_GET_SIZE(self.head), tail = PyBytes_GET_SIZE(self.tail)
        cdef uint8_t[10] number
        cdef Py_ssize_t digits = ks_put_uvarint(number, <uint64_t>records + 1) - number
        cdef bytes frame = PyBytes_FromStringAndSize(NULL, 4 + head + digits + records + tail)
        cdef uint8_t* p = <uint8_t*>PyBytes_AS_STRING(frame)
        batch.seal_plain(self.producer_id, self.producer_epoch, self.base_sequence)
        ks_store32(p, <uint32_t>(head + digits + records + tail))
        memcpy(p + 4, PyBytes_AS_STRING(self.head), head)
        p += 4 + head
        memcpy(p, number, digits)
        memcpy(p + digits, batch.memory.data, records)
        memcpy(p + digits + records, PyBytes_AS_STRING(self.tail), tail)
        return frame
