"""A page read as a person and a program would: its words, its tags, and the charts in it."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from typing import Any


class Reader(HTMLParser):
    """Tags, what they refer to and the text of a page; every tag must be closed in its turn."""

    VOID = frozenset({"meta", "br", "hr", "img", "input", "link"})

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[str] = []
        self.references: list[str] = []
        self.words: list[str] = []
        self.scripts: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        if tag not in self.VOID:
            self.open.append(tag)
        self.references += [value or "" for name, value in attrs if name in ("src", "href", "action", "data")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        where = self.open[-1] if self.open else ""
        if where == "script":
            self.scripts.append(data)
        elif where != "style":
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def charts(reader: Reader) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(reader.scripts[0])
    return found
