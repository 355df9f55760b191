"""pipeline.source.options: what Spark's option map becomes."""

from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from pipeline.errors import LookupFailedError, OptionError, PipelineError, PlanError, ReadError, RowError, WriteError
from pipeline.source.options import Bound, Named, ReadOptions
from pipeline.source.splits import EARLIEST, LATEST

LEAST = {"kafka.bootstrap.servers": "b:9092", "subscribe": "t"}


def test_defaults_read_everything() -> None:
    options = ReadOptions.parse(LEAST)
    assert options.topics == Named(("t",))
    assert (options.starting, options.ending) == (Bound(), Bound())
    assert options.client == {"bootstrap.servers": "b:9092"}


def test_names_in_any_case_and_several_topics() -> None:
    options = ReadOptions.parse({"KAFKA.Bootstrap.Servers": "b", "SUBSCRIBE": "a, b,a", "rowsperbatch": "7"})
    assert options.topics == Named(("a", "b"))
    assert options.client == {"bootstrap.servers": "b"}
    assert options.rows_per_batch == 7


def test_offsets_as_json() -> None:
    options = ReadOptions.parse(
        {**LEAST, "startingOffsets": '{"t": {"0": 5, "1": -2}}', "endingOffsets": '{"t":{"0":9}}'}
    )
    assert options.starting.offsets == {"t": {0: 5, 1: -2}}
    assert options.ending.offsets == {"t": {0: 9}}


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"subscribe": ""}, "subscribe"),
        ({"kafka.bootstrap.servers": None}, "bootstrap.servers"),
        ({"startingOffset": "earliest"}, "did you mean 'startingOffsets'"),
        ({"what": "1"}, "unknown option 'what'$"),
        ({"startingOffsets": "yesterday"}, "offsets must look like"),
        ({"endingOffsets": "earliest"}, "nothing would be read"),
        ({"startingOffsets": "Latest"}, "nothing would be read"),
        ({"startingOffsets": '{"t": {"0": -1}}'}, r"can't be -1 \(of t\[0\]\)"),
        ({"endingOffsets": '{"t": {"3": -2}}'}, r"can't be -2 \(of t\[3\]\)"),
        ({"endingOffsets": '{"u": {"3": 5}}'}, "names the topic 'u', which \"subscribe\" does not"),
        ({"bytesPerBatch": "²"}, "from 1"),
        ({"path": "t"}, "load\\(\\) takes no path"),
        ({"provider": "kserdes", "owner": "me"}, "can't be a table .* CREATE TEMPORARY VIEW"),
        ({"rowsPerBatch": "0"}, "from 1"),
        ({"timeoutSeconds": "soon"}, "from 1 to 2147483647, not 'soon'"),
        ({"kafka.linger": "1"}, r"unknown option 'kafka\.linger'; did you mean 'kafka\.linger\.ms'"),
        ({"kafka.fetch.min.bytes": "none"}, r"kafka\.fetch\.min\.bytes must be a whole number from 1 to 100000000, "),
        ({"kafka.enable.auto.commit": "true"}, "no meaning"),
    ],
)
def test_wrong_options_say_what_is_meant(change: dict[str, str | None], text: str) -> None:
    given = {name: value for name, value in {**LEAST, **change}.items() if value is not None}
    with pytest.raises(OptionError, match=text):
        ReadOptions.parse(given).check_batch()


def test_secrets_do_not_show_and_options_travel() -> None:
    options = ReadOptions.parse({**LEAST, "kafka.sasl.password": "hidden"})
    assert "hidden" not in repr(options)
    assert pickle.loads(pickle.dumps(options)) == options
    assert options.consumer_config()["sasl.password"] == "hidden"
    assert options.consumer_config()["enable.auto.commit"] is False


def test_both_ends_may_be_said_in_words() -> None:
    options = ReadOptions.parse({**LEAST, "startingOffsets": "EARLIEST", "endingOffsets": "Latest"})
    assert (options.starting, options.ending) == (Bound(word=EARLIEST), Bound(word=LATEST))


def test_the_client_joins_no_group_and_stops_where_offsets_are_gone() -> None:
    options = ReadOptions.parse({**LEAST, "kafka.client.id": "mine"})
    assert options.consumer_config() == {
        "bootstrap.servers": "b:9092",
        "client.id": "mine",
        "group.id": "kserdes-source",
        "isolation.level": "read_uncommitted",
        "enable.auto.commit": False,
        "auto.offset.reset": "error",
    }


# ---- errors


@pytest.mark.parametrize(
    "error",
    [
        OptionError("o"),
        PlanError("p"),
        LookupFailedError("l"),
        ReadError("r"),
        RowError(3, "bad magic byte"),
        WriteError("w"),
    ],
)
def test_errors_travel(error: PipelineError) -> None:
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert isinstance(copy, PipelineError)


def test_a_row_error_says_what_to_do() -> None:
    error = pickle.loads(pickle.dumps(RowError(3, "bad magic byte")))
    assert (error.row, error.reason) == (3, "bad magic byte")
    assert "PERMISSIVE" in str(error)


def test_an_option_error_is_a_value_error() -> None:
    assert issubclass(OptionError, ValueError)


# ---- package


def test_without_the_extra_it_says_what_to_install() -> None:
    code = "import sys; sys.modules['pyarrow'] = None; import pipeline"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.endswith(
        "ModuleNotFoundError: pyarrow is not installed: "
        "pip install pyspark pyarrow pandas (the extra 'spark' of kserdes)\n"
    )
