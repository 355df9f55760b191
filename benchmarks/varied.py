"""Records for benchmarks that differ from one another, so that no branch of a codec can be foreseen.

Texts are of different lengths, some of them not ASCII, numbers take one byte or several, what may be null is null now
and then. A seed decides everything: all contestants get the same records.
"""

from __future__ import annotations

import datetime
import decimal
import random
from collections.abc import Callable
from functools import lru_cache
from typing import Any

__all__ = ["DISTINCT", "flights", "json_orders", "orders", "proto_orders", "repeated"]

DISTINCT = 20_000
"""So many records differ; more of them begin again. No branch predictor remembers that many."""
SEED = 20_261_125
CITIES = (
    "Hamburg", "Bergen", "Malmö", "København", "Rio de Janeiro", "Ulm", "Zürich", "San Francisco", "東京", "Århus",
    "Frankfurt am Main", "Lyon", "Oslo", "Berlin", "Newcastle upon Tyne", "Rome",
)  # fmt: skip
TAGS = ("new", "gift", "express", "fragile", "b2b", "returning customer", "vip")
COUPONS = ("SPRING", "TEN", "WELCOME2026", "FRIENDS-AND-FAMILY", "X")
STATES = ("NEW", "PAID", "SHIPPED", "CANCELLED")
CARRIERS = ("UA", "AA", "B6", "DL", "EV", "9E")
AIRPORTS = ("EWR", "LGA", "JFK", "IAH", "MIA", "ATL", "ORD", "SFO")
START = datetime.datetime(2020, 1, 1, tzinfo=datetime.UTC)


def _number(rng: random.Random, bits: int) -> int:
    """Of any length up to so many bits."""
    return rng.getrandbits(rng.randint(1, bits))


def _order(rng: random.Random) -> dict[str, Any]:
    return {
        "id": f"{rng.choice(('ord', 'web', 'order'))}-{_number(rng, 40):x}-{rng.randint(0, 999_999):06}",
        "customer_id": _number(rng, 40),
        "score": rng.random(),
        "created_at": START + datetime.timedelta(milliseconds=_number(rng, 37)),
        "status": rng.choice(STATES),
        "coupon": rng.choice(COUPONS) if rng.random() < 0.4 else None,
        "tags": rng.sample(TAGS, rng.choice((0, 0, 1, 2, 2, 3, 4))),
        "total": decimal.Decimal(_number(rng, 30)).scaleb(-2),
        "address": {"city": rng.choice(CITIES), "postcode": str(rng.randint(1000, 99_999))},
        "quantity": _number(rng, 9),
        "gift": rng.random() < 0.3,
        "weight_kg": None if rng.random() < 0.3 else rng.randint(1, 4000) / 64,
    }


def _flight(rng: random.Random) -> dict[str, Any]:
    cancelled = rng.random() < 0.05
    sure = {
        "year": 2013, "month": rng.randint(1, 12), "day": rng.randint(1, 28), "sched_dep_time": rng.randint(500, 2359),
        "sched_arr_time": rng.randint(1, 2359), "carrier": rng.choice(CARRIERS), "flight": rng.randint(1, 6000),
        "origin": rng.choice(AIRPORTS), "dest": rng.choice(AIRPORTS), "distance": rng.randint(17, 4983),
        "hour": rng.randint(5, 23), "minute": rng.randint(0, 59),
        "time_hour": START + datetime.timedelta(hours=rng.randint(0, 40_000)),
    }  # fmt: skip
    flown = {
        "dep_time": rng.randint(1, 2400), "dep_delay": rng.randint(-30, 300), "arr_time": rng.randint(1, 2400),
        "arr_delay": rng.randint(-60, 300), "tailnum": f"N{rng.randint(100, 99_999)}UA",
        "air_time": rng.randint(20, 690),
    }  # fmt: skip
    return sure | {name: None if cancelled or rng.random() < 0.02 else value for name, value in flown.items()}


@lru_cache(maxsize=2)
def _made(make: Callable[[random.Random], dict[str, Any]]) -> list[dict[str, Any]]:
    rng = random.Random(SEED)
    return [make(rng) for _ in range(DISTINCT)]


def repeated(items: list[Any], count: int) -> list[Any]:
    """So many of a list's items, from the beginning again where there are no more."""
    return (items * (count // len(items) + 1))[:count]


def orders(count: int) -> list[dict[str, Any]]:
    """Orders as `schemas/order.avsc` has them."""
    return repeated(_made(_order), count)


def json_orders(count: int) -> list[dict[str, Any]]:
    """Orders as `schemas/order.schema.json` has them."""
    made = [
        {
            **order,
            "created_at": order["created_at"].isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "total": str(order["total"]),
        }
        for order in orders(min(count, DISTINCT))
    ]
    return repeated(made, count)


def flights(count: int) -> list[dict[str, Any]]:
    """Flights as `schemas/flight.avsc` has them."""
    return repeated(_made(_flight), count)


def proto_orders(message: Any, count: int) -> list[Any]:
    """The same orders as messages.

    Args:
        message: one of their type.
        count: how many.
    """
    made = []
    for order in orders(min(count, DISTINCT)):
        kept = {
            name: value for name, value in order.items() if name not in ("created_at", "total") and value is not None
        }
        one = type(message)(**kept)
        one.total_cents = int(order["total"].scaleb(2))
        one.created_at.FromDatetime(order["created_at"])
        made.append(one)
    return repeated(made, count)
