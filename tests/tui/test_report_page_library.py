"""The chart library's code on a page: what is changed so that it starts quickly, and what never is."""

from __future__ import annotations

import base64
import gzip

import pytest

pytest.importorskip("plotly", reason="the chart library is not installed (extra `report`)")

from plotly.offline import get_plotlyjs

from gputrain_runner.report.telling import tell
from gputrain_tui.report import whole
from gputrain_tui.report.quick_start import DRAWN, called_at_once, with_only
from report_recordings import write_session
from report_sweeps import sweep
from report_texts import charts, read

AROUND = '(typeof self !== "undefined" ? self : this, () => {\n'
LIBRARY = (
    "(function(root, factory) {} " + AROUND + '"use strict";var P=(()=>{'
    'var a=W((e,t)=>{"use strict";t.exports={moduleType:"trace",name:"scatter"}});'
    'var $b=W((e,t)=>{"use strict";var x=a();t.exports={moduleType:"trace",name:"bar",x}});'
    'var c=W((e,t)=>{"use strict";t.exports=$b()});'
    'var d=W(()=>{"use strict";t.exports={moduleType:"trace",name:"pie"}});'
    'var f=W((e,t)=>{"use strict";t.exports=d()});'
    "R.register(a());R.register([f(),c(),f()]);return R})();\nreturn P;\n}));"
)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    recording = write_session(tmp_path_factory.mktemp("library") / "x.json", 60.0)
    return "".join(whole.sessions([tell(recording)]))


def test_other_kinds_are_not_registered() -> None:
    assert with_only(LIBRARY, ("scatter", "bar")) == LIBRARY.replace("[f(),c(),f()]", "[c()]")
    assert with_only(LIBRARY, ("scatter", "pie")) == LIBRARY.replace("[f(),c(),f()]", "[f(),f()]")


@pytest.mark.parametrize(
    "code",
    [
        "",
        "var Plotly = {};",
        LIBRARY.replace('name:"scatter"', 'name:"other"'),
        LIBRARY.replace("register([", "registered(["),
        LIBRARY.replace('"use strict";', ""),
    ],
)
def test_code_that_is_written_otherwise_keeps_all_kinds(code: str) -> None:
    assert with_only(code, ("scatter", "bar")) == code


def test_the_function_around_the_library_is_in_parentheses() -> None:
    begin, end = AROUND.removesuffix("() => {\n"), "\nreturn P;\n}"
    assert (
        called_at_once(LIBRARY + "\n")
        == LIBRARY.replace(AROUND, begin + "(() => {\n").replace(end + "));", end + ")));") + "\n"
    )
    for other in ("", "var Plotly = {};", LIBRARY + "more();", LIBRARY.replace("self : this", "self : null")):
        assert called_at_once(other) == other


def test_a_page_carries_the_library_that_is_installed(page: str) -> None:
    begun = page.index('id="library">') + len('id="library">')
    carried = gzip.decompress(base64.b64decode(page[begun : page.index("<", begun)])).decode()
    installed = get_plotlyjs()
    assert carried == called_at_once(with_only(installed)) != with_only(installed) != installed
    assert 100 < len(installed) - len(carried) < 1000, "a list is cut, the rest is there"


def test_pages_have_no_kinds_but_those_that_are_started(page: str) -> None:
    for each in (page, "".join(whole.sweeps([("s.json", sweep())]))):
        assert {trace["type"] for chart in charts(read(each)) for trace in chart["data"]} == set(DRAWN)
