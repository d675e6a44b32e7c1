"""HTML put together from parts: what is not HTML already is escaped, whatever it says."""

from __future__ import annotations

import html
from collections.abc import Iterable, Sequence


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()


Part = Html | str


def escape(part: Part) -> Html:
    """As HTML; plain text with its special characters escaped."""
    return part if isinstance(part, Html) else Html(html.escape(part))


def join(parts: Iterable[Part]) -> Html:
    """One after another."""
    return Html("".join(escape(part) for part in parts))


def element(name: str, *parts: Part, **attributes: str) -> Html:
    """An element; `class_` is the attribute `class`, and other `_` in a name stand for `-`."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{html.escape(value)}"' for key, value in attributes.items()
    )
    return Html(f"<{name}{told}>{join(parts)}</{name}>")


def table(
    head: Sequence[Part], rows: Iterable[Sequence[Part]], *, left: Sequence[int] = (0,), class_: str = ""
) -> Html:
    """A table; the columns in `left` hold words, all others figures."""

    def line(cell: str, parts: Sequence[Part]) -> Html:
        return element(
            "tr",
            *(
                element(cell, part, class_="words" if at in left else "figure")
                for at, part in enumerate(parts)
            ),
        )

    body = [line("td", row) for row in rows]
    return element(
        "div",
        element(
            "table",
            element("thead", line("th", head)),
            element("tbody", *body),
            class_=class_,
        ),
        class_="wide",
    )


def facts(rows: Iterable[tuple[str, Part]]) -> Html:
    """Names and what they are, as a list of two columns."""
    return element(
        "dl", *(join([element("dt", name), element("dd", value)]) for name, value in rows), class_="facts"
    )


def section(title: str, *parts: Part, note: str = "") -> Html:
    """A titled part of the page; nothing where it has no content."""
    if not any(parts):
        return Html("")
    told = [element("p", note, class_="note")] if note else []
    return element("section", element("h3", title), *told, *parts)
