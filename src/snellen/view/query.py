"""Selects and orders the samples that a page shows, according to the query string of the page's
URL."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from snellen.view.index import EARLIER_STEPS, TEXTS, phrase

PAGE = 50
STATES = ("ok", "empty", "truncated", "refused", "failed", "waiting")
READINGS = ("answered", "guessed", "unparsed", "not-judged", "no-target", "no-reply")
VERDICTS = ("right", "partly", "wrong", "none")
FLIPS: Mapping[str, str] = {
    "lost": "right there, wrong here",
    "won": "wrong there, right here",
    "both": "right in both",
    "neither": "wrong in both",
    "any": "different score there",
}
SORTS: Mapping[str, str] = {
    "place": "in the data set's order",
    "score": "by score",
    "length": "by length of the reply",
    "seconds": "by time",
    "tokens": "by tokens",
    "attempts": "by attempts",
}
FACET = 200
"""A tag with more values than this is not offered as a facet, that is, as a filter with counts."""
MOST = 2_000_000
MANY = 2_000
LONGEST = 2_000
"""The maximum number of characters of a search text."""
MOST_TAGS = 50
"""The maximum number of tags in one query, because SQLite limits the size of queries."""


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """The filters that select samples, and the order of the samples."""

    q: str = ""
    """The text to search for."""
    state: str = ""
    """The state of the reply, one of `STATES`."""
    reading: str = ""
    """The state of the reading, one of `READINGS`."""
    score: str = ""
    """The verdict, one of `VERDICTS`."""
    rule: str = ""
    """The rule that parsed the reply."""
    scoring: str = ""
    """The scoring to which `score`, `reading`, and `rule` refer."""
    differ: str = ""
    """A second scoring. Only samples to which `scoring` and this scoring give different scores are
    selected."""
    vs: str = ""
    """The name of another run to compare with."""
    flip: str = ""
    """How the other run's score must differ, one of `FLIPS`."""
    by: str = "place"
    """The order, one of `SORTS`."""
    desc: bool = False
    """Whether the order is reversed."""
    page: int = 1
    """The page of the list, from 1."""
    tags: Mapping[str, str] = field(default_factory=dict)
    """The selected value of each tag that is a filter."""

    @classmethod
    def of(cls, pairs: Sequence[tuple[str, str]]) -> Wanted:
        """Parse the name-value pairs of a page's query string. Invalid parts are ignored."""
        values: dict[str, Any] = {}
        tags: dict[str, str] = {}
        allowed = {
            "state": STATES, "reading": READINGS, "score": VERDICTS, "flip": FLIPS, "by": SORTS,
        }  # fmt: skip
        for name, value in pairs:
            if name.startswith("tag.") and name != "tag." and value:
                if len(tags) < MOST_TAGS:
                    tags[name[4:]] = value
            elif name == "page":
                good = value.isascii() and value.isdigit()
                values[name] = min(max(1, int(value[:7])), MOST) if good else 1
            elif name == "desc":
                values[name] = value == "1"
            elif name not in cls.__annotations__ or name == "tags" or not value:
                continue
            elif name not in allowed or value in allowed[name]:
                values[name] = value
        if not values.get("vs"):
            values.pop("flip", None)
        elif "flip" not in values:
            values["flip"] = "any"
        return cls(tags=tags, **values)

    def address(self, **other: Any) -> str:
        """The query string of these filters. `other` has new values for parts of the query string.
        The value None removes a part."""
        pairs: dict[str, Any] = {
            attribute.name: getattr(self, attribute.name) for attribute in fields(self)
        }
        tags: dict[str, str | None] = {f"tag.{k}": v for k, v in pairs.pop("tags").items()}
        pairs = {"page": 1, **pairs, **tags, **other} if "page" in other else {
            **pairs, **tags, "page": 1, **other
        }  # fmt: skip
        usual = {"by": "place", "page": 1, "desc": False}
        return urlencode(
            {
                name: int(value) if isinstance(value, bool) else value
                for name, value in pairs.items()
                if value not in (None, "") and usual.get(name) != value
            }
        )

    def by_facet(self, name: str) -> str:
        """The selected value of the facet with this name, or an empty text if none is selected."""
        if name.startswith("tag."):
            return self.tags.get(name[4:], "")
        return str(getattr(self, name))

    def without(self, name: str) -> Wanted:
        """A copy of these filters without the filter of the facet with this name."""
        if name.startswith("tag."):
            tags = {tag: value for tag, value in self.tags.items() if f"tag.{tag}" != name}
            return replace(self, tags=tags)
        cleared: dict[str, Any] = {name: ""}
        return replace(self, **cleared)

    @property
    def is_unfiltered(self) -> bool:
        """Whether all samples are selected."""
        return not (
            self.q or self.state or self.reading or self.score or self.rule or self.differ
            or self.flip or self.tags
        )  # fmt: skip


@dataclass(frozen=True)
class Clause:
    """A SELECT statement that returns rows of samples (`row`), with its parameters."""

    sql: str
    """The statement."""
    values: tuple[Any, ...]
    """The values of the statement's parameters."""


def conditions(wanted: Wanted, scoring: str, best: float) -> list[Clause]:
    """The conditions that the selected samples meet. Each condition is a query that returns rows of
    samples. The other run's index is attached as `other`."""
    clauses: list[Clause] = []

    def add(sql: str, *values: Any) -> None:
        clauses.append(Clause(f"SELECT row FROM {sql}", values))

    for tag, value in wanted.tags.items():
        add("tags WHERE tag = ? AND value = ?", tag, value)
    if wanted.state == "waiting":
        add("samples WHERE state IS NULL")
    elif wanted.state:
        add("samples WHERE state = ?", wanted.state)
    scored = "scores WHERE scoring = ? AND {}"
    if wanted.reading:
        add(scored.format("state = ?"), scoring, wanted.reading)
    if wanted.rule:
        add(scored.format("rule = ?"), scoring, wanted.rule)
    if wanted.score == "right":
        add(scored.format("score >= ?"), scoring, best)
    elif wanted.score == "partly":
        add(scored.format("score > 0 AND score < ?"), scoring, best)
    elif wanted.score == "wrong":
        add(scored.format("score <= 0"), scoring)
    elif wanted.score == "none":
        there = scored.format("score IS NOT NULL")
        add(f"samples WHERE row NOT IN (SELECT row FROM {there})", scoring)
    if wanted.differ:
        clauses.append(Clause(DIFFER, (wanted.differ, scoring)))
    if wanted.flip:
        bounds = () if wanted.flip == "any" else (best, best)
        clauses.append(Clause(f"{FLIPPED} AND {_flip(wanted.flip)}", (scoring, scoring, *bounds)))
    if wanted.q:
        clauses.append(_text_clause(wanted.q))
    return clauses


def _text_clause(text: str) -> Clause:
    """The condition that a sample contains these words, or that its id contains the text."""
    text = text[:LONGEST].replace("\0", " ")  # SQLite would end the text at a NUL
    name = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    by_name = Clause("SELECT row FROM samples WHERE sample LIKE ? ESCAPE '\\'", (f"%{name}%",))
    words = phrase(text)
    if words is None:
        return by_name
    by_words = f"SELECT rowid >> {TEXTS} AS row FROM words WHERE words MATCH ?"
    return Clause(f"SELECT row FROM ({by_words} UNION ALL {by_name.sql})", (words, *by_name.values))


DIFFER = (
    "SELECT a.row FROM scores a CROSS JOIN scores b ON b.scoring = ? AND b.key = a.key "
    "WHERE a.scoring = ? AND a.score IS NOT b.score"
)
FLIPPED = (
    "SELECT x.row FROM scores x CROSS JOIN other.scores y ON y.scoring = ? AND y.key = x.key "
    "WHERE x.scoring = ?"
)


def _flip(flip: str) -> str:
    return {
        "lost": "x.score < ? AND y.score >= ?",
        "won": "x.score >= ? AND y.score < ?",
        "both": "x.score >= ? AND y.score >= ?",
        "neither": "x.score < ? AND y.score < ?",
        "any": "x.score IS NOT y.score",
    }[flip]


def ordered(wanted: Wanted) -> str:
    """The terms of the ORDER BY clause. The query must join the selected scoring's scores as
    `x`."""
    turn = "DESC" if wanted.desc else "ASC"
    usual = f"s.place {turn}, s.repeat {turn}, s.turn {turn}, s.step {turn}, s.row {turn}"
    if wanted.by == "place":
        return usual
    column = "x.score" if wanted.by == "score" else f"s.{wanted.by}"
    return f"{column} {turn} NULLS LAST, s.place, s.repeat, s.turn, s.row"


class Chosen:
    """The selected samples. The samples are selected once, and a temporary table keeps them until
    the connection is closed."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        wanted: Wanted,
        scoring: str,
        best: float,
        other: Path | None = None,
    ) -> None:
        self._do = connection.execute
        self._wanted = wanted
        self._scoring = scoring
        if other is not None:
            self._do("ATTACH ? AS other", (str(other),))
        self._from, counted = "samples s", "samples WHERE earlier = 0"
        if not wanted.is_unfiltered:
            self._do("PRAGMA temp_store = MEMORY")
            self._do("CREATE TEMP TABLE chosen (row INTEGER PRIMARY KEY)")
            every = conditions(wanted, scoring, best)
            selection = " INTERSECT ".join(clause.sql for clause in every)
            self._do(
                f"INSERT OR IGNORE INTO chosen {selection} EXCEPT {EARLIER_STEPS}",
                [value for clause in every for value in clause.values],
            )
            self._from, counted = "chosen c JOIN samples s ON s.row = c.row", "chosen"
        self._n = self._number(f"SELECT count(*) FROM {counted}")

    def count(self) -> int:
        return self._n

    def page(self) -> list[int]:
        """The rows of the requested page, in order."""
        values = (PAGE, PAGE * (self._wanted.page - 1))
        if self._wanted.by != "place" or self._n < MANY:
            return self._rows("LIMIT ? OFFSET ?", *values)
        # For many rows, reading them in index order is faster than sorting them.
        condition = "" if self._wanted.is_unfiltered else "AND s.row IN (SELECT row FROM chosen)"
        sql = (
            f"SELECT s.row FROM samples s INDEXED BY places WHERE s.earlier = 0 {condition} "
            f"ORDER BY {ordered(self._wanted)} LIMIT ? OFFSET ?"
        )
        return [row for (row,) in self._do(sql, values)]

    def around(self, row: int) -> tuple[int | None, int | None, int | None]:
        """The previous row, the next row, and this row's position, from 1, among the selected
        samples. None stands for a row or a position that does not exist."""
        if self._wanted.by != "place":
            every = self._rows("")
            if row not in every:
                return None, None, None
            at = every.index(row)
            after = every[at + 1] if at + 1 < len(every) else None
            return every[at - 1] if at else None, after, at + 1
        key = "(s.place, s.repeat, s.turn, s.step, s.row)"
        here = f"(SELECT place, repeat, turn, step, row FROM samples WHERE row = {row:d})"
        ahead, behind = ("<", ">") if self._wanted.desc else (">", "<")
        following = self._rows("LIMIT 1", where=f"{key} {ahead} {here}")
        before = self._do(
            f"SELECT s.row FROM {self._from} WHERE s.earlier = 0 AND {key} {behind} {here} "
            f"ORDER BY {ordered(replace(self._wanted, desc=not self._wanted.desc))} LIMIT 1"
        ).fetchone()
        number: int | None = None
        if self._number(f"SELECT count(*) FROM {self._from} WHERE s.row = {row:d}"):
            number = 1 + self._number(
                f"SELECT count(*) FROM {self._from} WHERE s.earlier = 0 AND {key} {behind} {here}"
            )
        return before and before[0], following[0] if following else None, number

    def _rows(self, limit: str, *values: int, where: str = "TRUE") -> list[int]:
        tables, parameters = self._from, list[Any](values)
        if self._wanted.by == "score":
            tables += " LEFT JOIN scores x ON x.row = s.row AND x.scoring = ?"
            parameters = [self._scoring, *parameters]
        sql = (
            f"SELECT s.row FROM {tables} WHERE s.earlier = 0 AND {where} "
            f"ORDER BY {ordered(self._wanted)} {limit}"
        )
        return [row for (row,) in self._do(sql, parameters)]

    def _number(self, sql: str) -> int:
        return int(self._do(sql).fetchone()[0])
