"""kafka_core.wire.framing: cutting a stream into frames, however it arrives."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kafka_core.errors import ProtocolError
from kafka_core.wire.framing import FrameReader


def frame(body: bytes) -> bytes:
    return len(body).to_bytes(4, "big") + body


def feed(reader: FrameReader, data: bytes, chunk_bytes: int = 1 << 30) -> list[bytearray]:
    """Give the reader bytes as a socket would: at most `chunk_bytes` at a time, and what its buffer takes."""
    frames: list[bytearray] = []
    while data:
        buffer = reader.get_buffer()
        assert len(buffer) > 0
        size = min(len(buffer), chunk_bytes, len(data))
        buffer[:size] = data[:size]
        buffer.release()
        data = data[size:]
        frames += reader.buffer_updated(size)
    return frames


class TestFrames:
    def test_several_small_ones_in_one_read(self):
        assert feed(FrameReader(100), frame(b"a") + frame(b"") + frame(b"ccc")) == [b"a", b"", b"ccc"]

    def test_a_large_one_is_received_in_its_own_buffer_of_exactly_its_size(self):
        reader = FrameReader(1 << 24)
        body = bytes(range(256)) * 40_000
        feed(reader, frame(body)[:5000])
        assert len(reader.get_buffer()) == len(body) - (5000 - 4)
        (whole,) = feed(reader, frame(body)[5000:])
        assert type(whole) is bytearray
        assert whole == body

    def test_frames_do_not_share_memory(self):
        reader = FrameReader(100)
        (first,) = feed(reader, frame(b"first"))
        feed(reader, frame(b"other"))
        assert first == b"first"

    @given(st.lists(st.binary(max_size=9000), max_size=12), st.integers(1, 5000))
    def test_any_split_gives_the_same_frames(self, bodies: list[bytes], chunk_bytes: int):
        reader = FrameReader(10_000)
        assert feed(reader, b"".join(map(frame, bodies)), chunk_bytes) == bodies
        assert not reader.in_frame
        assert reader.received_bytes == sum(len(body) + 4 for body in bodies)


class TestFirstBytes:
    def test_a_frame_that_was_read_where_it_is_is_passed_over(self):
        reader = FrameReader(100)
        feed(reader, frame(b"before"))
        new = frame(b"read")
        reader.get_buffer()[: len(new)] = new
        first = reader.first_bytes()
        assert first is not None
        assert first[: len(new)] == new
        reader.pass_over(len(new))
        assert reader.received_bytes == len(frame(b"before")) + len(new)
        assert not reader.in_frame
        assert feed(reader, frame(b"behind")) == [b"behind"]

    @pytest.mark.parametrize("there", [frame(b"x")[:3], frame(bytes(90))[:50], frame(b"x") + b"\0"])
    def test_there_are_none_inside_a_frame(self, there: bytes):
        reader = FrameReader(100)
        feed(reader, there)
        assert reader.first_bytes() is None


class TestPosition:
    @pytest.mark.parametrize(
        ("sent", "inside", "text"),
        [
            (b"", False, "between responses"),
            (frame(b"abc"), False, "between responses"),
            (b"\x00\x00", True, "after 2 bytes of a response's size"),
            (frame(b"abc")[:-1], True, "after 2 of 3 bytes of a response"),
        ],
    )
    def test_is_described(self, sent: bytes, inside: bool, text: str):
        reader = FrameReader(100)
        feed(reader, sent)
        assert (reader.in_frame, reader.describe_position()) == (inside, text)


class TestRefusal:
    def test_a_size_above_the_limit_names_the_setting_and_allocates_nothing(self):
        reader = FrameReader(1000)
        with pytest.raises(ProtocolError, match=r"1001 bytes .* receive\.message\.max\.bytes = 1000"):
            feed(reader, (1001).to_bytes(4, "big"))
        assert len(FrameReader(1000).get_buffer()) < 10_000

    def test_the_limit_itself_is_allowed(self):
        assert feed(FrameReader(3), frame(b"abc")) == [b"abc"]

    def test_a_negative_size(self):
        with pytest.raises(ProtocolError, match="impossible size -1"):
            feed(FrameReader(1000), b"\xff\xff\xff\xff")

    @pytest.mark.parametrize(
        ("greeting", "text"),
        [
            (b"HTTP/1.1 400 Bad Request\r\n", "answers HTTP"),
            (b"SSH-2.0-OpenSSH_9.2\r\n", "answers SSH"),
            (b"\x15\x03\x01\x00\x02\x02\x46", r"TLS port without TLS: set security\.protocol=SSL"),
            (b"\x16\x03\x03\x00\x7a", r"TLS port without TLS"),
        ],
    )
    @pytest.mark.parametrize("chunk_bytes", [1, 3, 100])
    def test_other_protocols_are_named(self, greeting: bytes, text: str, chunk_bytes: int):
        # a limit so high that these bytes would pass as a size
        with pytest.raises(ProtocolError, match=text):
            feed(FrameReader(2**31 - 1), greeting, chunk_bytes)

    def test_only_the_first_bytes_of_a_connection_are_suspicious(self):
        reader = FrameReader(1000)
        assert feed(reader, frame(b"HTTP")) == [b"HTTP"]
        with pytest.raises(ProtocolError, match="larger than receive"):  # a size like any other now
            feed(reader, b"HTTP")


def test_a_large_size_is_believed_only_as_its_bytes_come() -> None:
    reader = FrameReader(100_000_000)
    size = 40_000_000
    reader.get_buffer()[:4] = size.to_bytes(4, "big")
    assert reader.buffer_updated(4) == []
    assert len(reader.get_buffer()) < 20_000_000
    frames: list[bytearray] = []
    sent = 0
    while not frames:
        room = reader.get_buffer()
        count = len(room)
        room[0], room[count - 1] = sent % 251, (sent + count - 1) % 251
        del room
        frames = reader.buffer_updated(count)
        sent += count
    assert sent == size == len(frames[0])
    assert (frames[0][0], frames[0][-1]) == (0, (size - 1) % 251)
