"""Decimals in rules: `decimal(…)`, `decimals.add(…)` and the rest, and `==` for what holds decimals.

Must not know of rules. A decimal is a `decimal.Decimal`, never NaN or infinite; a `confluent.type.Decimal` of a
message counts as one. Sums, products and remainders are exact; quotients and roots have 38 digits, half up. Names and
results are those of Confluent's clients, which have them from Java's `BigDecimal`. No result may have more than
`WIDTH` digits: a few letters ask for a billion.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable
from decimal import Decimal
from typing import Any, Final

from kserdes_base.extras import needed
from serdes.rules.model import RuleError

WIDTH: Final = 10_000
"""The most digits of a result."""
BYTES: Final = 4_000
"""The most unscaled bytes of a decimal, which have 2.4 digits each."""
MOST_SCALE: Final = 2**31 - 1
EXACT: Final = decimal.Context(prec=decimal.MAX_PREC, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
DIVIDING: Final = decimal.Context(prec=38, rounding=decimal.ROUND_HALF_UP, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
NAME: Final = "confluent.type.Decimal"


def _types() -> Any:
    return needed("celpy.celtypes", "rules", RuleError)


def refused(text: str) -> Exception:
    """The error of an expression."""
    error: Exception = needed("celpy", "rules", RuleError).CELEvalError(text)
    return error


def known_decimal(value: Any) -> Decimal | None:
    """A decimal, or a message that holds one; None for anything else, numbers too."""
    if isinstance(value, Decimal):
        return value
    message = getattr(value, "msg", value)
    if getattr(getattr(message, "DESCRIPTOR", None), "full_name", "") != NAME:
        return None
    return _unscaled(bytes(message.value), message.scale)


def _unscaled(raw: bytes, scale: int) -> Decimal:
    if len(raw) > BYTES:
        raise refused(f"decimal(): more than {BYTES} bytes")
    return Decimal(int.from_bytes(raw, "big", signed=True)).scaleb(-scale, context=EXACT)


def is_whole(value: Any) -> bool:
    """Whether a value is an `int` of CEL: neither a truth nor unsigned."""
    types = _types()
    return isinstance(value, int) and not isinstance(value, (bool, types.BoolType, types.UintType))


def _scale(value: Any, name: str) -> int:
    if not is_whole(value) or not -MOST_SCALE - 1 <= value <= MOST_SCALE:
        raise refused(f"{name}: a scale is an int of 32 bits")
    return int(value)


def make(value: Any, *scale: Any) -> Decimal:
    """`decimal(number or text)`, or `decimal(bytes, scale)`."""
    if scale:
        if not isinstance(value, (bytes, bytearray)) or len(scale) != 1:
            raise refused("decimal() takes a number or a text, or bytes and a scale")
        return _unscaled(bytes(value), _scale(scale[0], "decimal(bytes, scale)"))
    found = known_decimal(value)
    if found is not None:
        return _finite(found)
    types = _types()
    if isinstance(value, (int, float)) and not isinstance(value, (bool, types.BoolType)):
        return Decimal(int(value)) if isinstance(value, int) else _parsed(str(float(value)))
    if isinstance(value, str):
        return _parsed(str(value))
    raise refused(f"decimal() takes no {'null' if value is None else type(value).__name__}")


def _parsed(text: str) -> Decimal:
    try:
        made = Decimal(text) if "_" not in text and text == text.strip() else Decimal("NaN")
    except decimal.InvalidOperation:
        made = Decimal("NaN")
    if not made.is_finite() or abs(_exponent(made)) > MOST_SCALE:
        raise refused("decimal(): the text is no number")
    return _without_minus(made)


def _finite(value: Decimal) -> Decimal:
    if not value.is_finite():
        raise refused("a decimal is neither NaN nor infinite")
    return value


def _without_minus(value: Decimal) -> Decimal:
    """Zero has no sign."""
    return value if value else value.copy_abs()


def _exponent(value: Decimal) -> int:
    exponent = value.as_tuple().exponent
    assert isinstance(exponent, int)  # it is finite
    return exponent


def _digits(value: Decimal, scale: int) -> int:
    """The number of digits of a number with so many behind the point; a zero takes one."""
    return max(1, value.adjusted() + 1 + scale) if value else 1


def _narrow(digits: int, name: str) -> None:
    if digits > WIDTH:
        raise refused(f"{name}: the result takes more than {WIDTH} digits")


def _sum(name: str, add: Callable[[Decimal, Decimal], Decimal]) -> Callable[[Any, Any], Decimal]:
    def call(left: Any, right: Any) -> Decimal:
        one, two = make(left), make(right)
        scale = -min(_exponent(one), _exponent(two))
        _narrow(max(_digits(one, scale), _digits(two, scale)) + 1, name)
        return add(one, two)

    return call


def _product(left: Any, right: Any) -> Decimal:
    one, two = make(left), make(right)
    _narrow(_digits(one, -_exponent(one)) + _digits(two, -_exponent(two)), "decimals.mul")
    return EXACT.multiply(one, two)


def _quotient(left: Any, right: Any) -> Decimal:
    one, two = make(left), make(right)
    if not two:
        raise refused("decimals.div: division by zero")
    return DIVIDING.divide(one, two)


def _remainder(left: Any, right: Any) -> Decimal:
    one, two = make(left), make(right)
    if not two:
        raise refused("decimals.mod: division by zero")
    _narrow(max(0, one.adjusted() - two.adjusted()) + 1 if one else 1, "decimals.mod")
    return EXACT.remainder(one, two)


def _root(value: Any) -> Decimal:
    """The root; where it is exact, with half the number's scale, if 38 digits have room for it."""
    given = make(value)
    if given < 0:
        raise refused("decimals.sqrt: square root of negative number")
    root = DIVIDING.sqrt(given)
    if EXACT.multiply(root, root) != given:
        return root
    scale = -_exponent(given)
    wanted = scale // 2 if scale >= 0 else -(-scale // 2)
    if root:
        root = root.normalize(EXACT)
        least = -_exponent(root)
        wanted = max(least, min(wanted, least + DIVIDING.prec - len(root.as_tuple().digits)))
    return _scaled(root, wanted, decimal.ROUND_HALF_UP, "decimals.sqrt")


def _scaled(value: Decimal, scale: int, rounding: str, name: str) -> Decimal:
    _narrow(_digits(value, scale), name)
    return value.quantize(Decimal(1).scaleb(-scale, context=EXACT), rounding, EXACT)


def _round(value: Any, *scale: Any) -> Decimal:
    return _scaled(make(value), _one_scale(scale, "decimals.round"), decimal.ROUND_HALF_UP, "decimals.round")


def _truncated(value: Any, *scale: Any) -> Decimal:
    """Without the digits behind a scale; none are added."""
    given, wanted = make(value), _one_scale(scale, "decimals.trunc")
    return given if wanted >= -_exponent(given) else _scaled(given, wanted, decimal.ROUND_DOWN, "decimals.trunc")


def _one_scale(given: tuple[Any, ...], name: str) -> int:
    if len(given) > 1:
        raise refused(f"{name} takes a decimal and a scale")
    return _scale(given[0], name) if given else 0


def _compared(name: str) -> Callable[[Any, Any], Any]:
    test: Callable[[Decimal, Decimal], bool] = getattr(Decimal, f"__{name}__")
    return lambda left, right: _types().BoolType(test(make(left), make(right)))


def _sign(value: Any) -> Any:
    given = make(value)
    return _types().IntType((given > 0) - (given < 0))


def to_double(value: Any) -> Any:
    """`double(value)`, of decimals too; of no truths and bytes."""
    types = _types()
    found = known_decimal(value)
    if found is not None:
        return types.DoubleType(float(found))
    if isinstance(value, (bool, types.BoolType, bytes, bytearray)):
        raise refused(f"double() takes no {type(value).__name__}")
    return types.DoubleType(value)


# --- equality


def _holds_decimal(value: Any) -> bool:
    if known_decimal(value) is not None:
        return True
    if isinstance(value, (list, tuple)):
        return any(map(_holds_decimal, value))
    return isinstance(value, dict) and any(map(_holds_decimal, dict.values(value)))


def _equal(left: Any, right: Any) -> bool:
    """Equality in which decimals are numbers: `1.0` is `1.00`, and no decimal is a float or an int."""
    one, two = known_decimal(left), known_decimal(right)
    if one is not None or two is not None:
        return one is not None and two is not None and one == two
    if isinstance(left, (list, tuple)) and isinstance(right, (list, tuple)):
        return len(left) == len(right) and all(map(_equal, left, right))
    if isinstance(left, dict) and isinstance(right, dict):
        return len(left) == len(right) and all(key in right and _equal(item, right[key]) for key, item in left.items())
    return bool(_evaluation().bool_eq(left, right))


def _evaluation() -> Any:
    return needed("celpy.evaluation", "rules", RuleError)


def equal(left: Any, right: Any) -> Any:
    """`left == right`."""
    if not _holds_decimal(left) and not _holds_decimal(right):
        return _evaluation().bool_eq(left, right)
    return _types().BoolType(_equal(left, right))


def unequal(left: Any, right: Any) -> Any:
    """`left != right`."""
    if not _holds_decimal(left) and not _holds_decimal(right):
        return _evaluation().bool_ne(left, right)
    return _types().BoolType(not _equal(left, right))


def contained(item: Any, container: Any) -> Any:
    """`item in container`."""
    if not isinstance(container, (list, dict)) or not (_holds_decimal(item) or _holds_decimal(container)):
        return _evaluation().operator_in(item, container)
    return _types().BoolType(any(_equal(item, one) for one in container))


FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "decimal": make,
    **{f"decimals.{name}": _compared(name) for name in ("eq", "lt", "le", "gt", "ge")},
    "decimals.add": _sum("decimals.add", EXACT.add),
    "decimals.sub": _sum("decimals.sub", EXACT.subtract),
    "decimals.mul": _product,
    "decimals.div": _quotient,
    "decimals.mod": _remainder,
    "decimals.greatest": lambda left, right: max(make(left), make(right)),
    "decimals.least": lambda left, right: min(make(left), make(right)),
    "decimals.sqrt": _root,
    "decimals.neg": lambda value: make(value).copy_negate(),
    "decimals.abs": lambda value: make(value).copy_abs(),
    "decimals.sign": _sign,
    "decimals.round": _round,
    "decimals.trunc": _truncated,
    "decimals.floor": lambda value: _scaled(make(value), 0, decimal.ROUND_FLOOR, "decimals.floor"),
    "decimals.ceil": lambda value: _scaled(make(value), 0, decimal.ROUND_CEILING, "decimals.ceil"),
    "double": to_double,
    "_==_": equal,
    "_!=_": unequal,
    "_in_": contained,
}
"""By the name that expressions use."""
