"""The chart library's code made quick to start in a browser.

Most of what opening a page costs is the library's start, so two things about its code are changed, neither of
them what it draws: the function around all of it is marked as called at once, which spares a browser reading
it twice, and kinds of charts that no page has are not started. (V8 compiles a function in parentheses
without skimming it first: https://v8.dev/blog/preparser#pife. The library's own smaller bundles are made by
leaving out of `register` what is not needed.) Code that is not written as expected is left as it is.
"""

from __future__ import annotations

import re

DRAWN = ("scatter", "bar")
"""The kinds of traces that pages have, in the library's words."""
_AROUND = '(typeof self !== "undefined" ? self : this, () => {\n'
"""How the function that holds the library begins, as the argument of a call."""
_END = "}));"
_MODULE = re.compile(r'([\w$]+)=[\w$]+\(\([\w$,]*\)=>\{"use strict";')
"""How a module begins in the library's code; it is asked for by calling its name."""
_HEAD_LENGTH = 4000
"""What names a kind of trace stands within so many characters of its module's beginning."""
_REGISTERED = re.compile(r"\.register\(\[((?:[\w$]+\(\),)+[\w$]+\(\))\]\)")


def quick_to_start(code: str) -> str:
    """The library's code as a page carries it."""
    return called_at_once(with_only(code))


def called_at_once(code: str) -> str:
    """The same with its outermost function in parentheses."""
    begin, end = code.find(_AROUND), code.rstrip().rfind(_END)
    if begin < 0 or end < begin or code[end + len(_END) :].strip():
        return code
    inner = begin + _AROUND.index("() =>")
    return f"{code[:inner]}({code[inner : end + 1]}){code[end + 1 :]}"


def with_only(code: str, drawn: tuple[str, ...] = DRAWN) -> str:
    """The same, in which no other kinds of traces than these are registered when the library starts.

    A kind that is not in the list that is cut is one that the library always has; where one is not found
    at all, or the list is not, nothing is cut.
    """
    kept: set[str] = set()
    for kind in drawn:
        names = _asked_for_by(code, kind)
        if not names:
            return code
        kept |= names
    for registered in _REGISTERED.finditer(code):
        calls = registered[1].split(",")
        own = [call for call in calls if call.removesuffix("()") in kept]
        if own and len(own) < len(calls):
            return code[: registered.start(1)] + ",".join(own) + code[registered.end(1) :]
    return code


def _asked_for_by(code: str, kind: str) -> set[str]:
    """The names of the module that is that kind of trace, and of the one that only hands it on."""
    own = _module_around(code, code.find(f'moduleType:"trace",name:"{kind}"'))
    if own is None:
        return set()
    handing_on = _module_around(code, code.find(f".exports={own}()}}"))
    return {own} if handing_on is None else {own, handing_on}


def _module_around(code: str, at: int) -> str | None:
    """The name of the module in whose head that place is; None where there is none."""
    if at < 0:
        return None
    begun = _MODULE.findall(code, max(0, at - _HEAD_LENGTH), at)
    return begun[-1] if begun else None
