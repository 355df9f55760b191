"""serdes.rules.jsonata: transforms between versions."""

from __future__ import annotations

import subprocess
import sys
import threading
from typing import Any

import pytest

from registry import RuleKind
from serdes.rules import RuleError
from serdes.rules.jsonata import JsonataExecutor, _this_thread
from tests.unit.serdes.rules.samples import context, rule


def run(expr: str | None, message: Any) -> Any:
    return JsonataExecutor().transform(context(rule(type="JSONATA", kind=RuleKind.TRANSFORM, expr=expr)), message)


def test_a_field_is_renamed() -> None:
    expression = "$merge([$sift($, function($v, $k) {$k != 'size'}), {'height': $.'size'}])"
    assert run(expression, {"id": 1, "size": 180}) == {"id": 1, "height": 180}


@pytest.mark.parametrize("expr", ["{", "$nope()", None])
def test_an_expression_that_can_not_be_run_says_why(expr: str | None) -> None:
    with pytest.raises(RuleError, match=r"failed|no expression"):
        run(expr, {"a": 1})


def test_the_library_does_not_change_the_limit_on_recursion() -> None:
    code = "import sys; from serdes.rules.jsonata import _library; _library(); print(sys.getrecursionlimit())"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "1000\n"


@pytest.mark.parametrize(
    ("expr", "text"),
    [
        ("( $f := function($x) { $f($x + 1) }; $f(0) )", "takes longer than 0.2 s"),
        ("( $f := function($x) { 1 + $f($x) }; $f(0) )", "goes too deep"),
        ("[1..1000000].([1..1000])", "takes longer than 0.2 s"),
        ("$reduce([1..60], function($a, $b) { $a & $a }, 'x')", "larger than"),
        ("$reduce([1..60], function($a, $b) { [[$a, 1], [$a, 1]] }, [1])", "larger than"),
        ("$string($reduce([1..60], function($a, $b) { [[$a, 1], [$a, 1]] }, [1]))", "larger than"),
        ("$pad('x', 1000000000)", "is asked for 1,000,000,000 characters"),
        ("$pad('x', -1e9)", "is asked for -1,000,000,000"),
        ("[1..10000000]", "larger than"),
    ],
)
def test_an_expression_that_would_not_end_is_ended(expr: str, text: str) -> None:
    executor = JsonataExecutor()
    if "0.2 s" in text:
        executor.configure({}, {"rule.timeout.ms": 200})
    with pytest.raises(RuleError, match=text):
        executor.transform(context(rule(type="JSONATA", kind=RuleKind.TRANSFORM, expr=expr)), {"a": 1})


def test_a_regular_expression_takes_linear_time() -> None:
    """With Python's own engine this one doubles its time with each letter."""
    assert run("$contains(text, /^(a+)+$/)", {"text": "a" * 5000 + "!"}) is False


@pytest.mark.parametrize(
    ("expr", "expected"),
    [
        ("$replace('žluť', /l(u)/, '$1-$12$$ \\\\ č')", "žu-u2$ \\ čť"),
        ("$replace('a1b2', /(\\d)/, function($m) { '<' & $m.match & '>' })", "a<1>b<2>"),
        ("$replace('aab', /a/, 'x', 1)", "xab"),
        ("$replace('ab', /a(x)?/, '[$1]')", "[]b"),
        ("$replace('ab', /(?=b)/, '-')", "a-b"),
        ("$split('a1b2', /\\d/)", ["a", "b", ""]),
        ("$contains('ABC', /b/i)", True),
        ("$match('a\nb', /^b/m).match", "b"),
        ("$match('žab', /(a)(b)/).groups", ["a", "b"]),
        ("$pad('x', -3, 'ž')", "žžx"),
        ("$pad('x', 3)", "x  "),
    ],
)
def test_texts_are_worked_on_as_jsonata_says(expr: str, expected: Any) -> None:
    assert run(expr, {}) == expected


def test_results_are_plain_and_the_caller_s_own() -> None:
    message = {"a": [1, {"b": 2}]}
    found = run("$", message)
    assert found == message
    assert found["a"] is not message["a"]
    made = run("{'a': [1..3], 'b': $map(a, function($v) { $v }), 'n': null, 'none': nothing}", {"a": [1, 2]})
    assert made == {"a": [1, 2, 3], "b": [1, 2], "n": None}
    assert {type(value) for value in made.values()} == {list, type(None)}


@pytest.mark.parametrize("expr", ["function($x) { $x }", "{'f': $sum}", "{'r': /x/}"])
def test_a_result_that_is_no_json_is_refused(expr: str) -> None:
    with pytest.raises(RuleError, match=r"gives a function|failed"):
        run(expr, {})


def test_assignments_do_not_outlive_an_evaluation() -> None:
    expression = "$exists($seen) ? 'seen' : $seen := 'now'"
    assert [run(expression, {}) for _ in range(2)] == ["now", "now"]


def test_the_time_is_that_of_the_evaluation() -> None:
    """The library gives the time at which the thread's newest expression was parsed."""
    first = run("$millis()", {})
    run("1 + 1", {})
    newest = _this_thread.compiled("1 + 1")
    newest.timestamp = 0
    assert run("$millis()", {}) >= first > 0


def test_threads_do_not_see_each_other_s_messages() -> None:
    """The library keeps the message in the parsed expression: `$$` must not be another thread's."""
    both = threading.Barrier(4)
    wrong: list[Any] = []

    def work(number: int) -> None:
        both.wait()
        message = {"items": list(range(20)), "mine": number}
        for _ in range(30):
            found = run("$map(items, function($v) { $$.mine })", message)
            if found != [number] * 20:
                wrong.append(found)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
