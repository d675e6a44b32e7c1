"""Planted faults against what the diagnosis names, on real trainings on the CPU; prints the table.

python tests/bench/confusion.py [SECONDS] [NAME ...]. About 15 s for each; on a quiet machine only, because
other programs are a finding of their own.
"""

from __future__ import annotations

import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import gputrain_presets
from gputrain_runner.diagnosis import findings_of, saved_ms
from gputrain_runner.diagnosis.rules import BY_NAME, names
from gputrain_runner.machine import host_facts
from gputrain_runner.options import SessionOptions
from gputrain_runner.session import Session
from gputrain_runner.telemetry import Telemetry
from gputrain_runner.timeline import Finding, Verdict
from planted_faults import Fault, burning, faults

NOT_OURS = {names.CPU_SHARED, names.NOISY, names.OVERHEAD}
SECONDS = 15.0
START_S = 60.0
"""How long a worker may take to its first verdict of any kind."""


@dataclass
class Told:
    """What was named of a planted fault."""

    planted: str
    fault: Fault
    verdict: Verdict | None

    @property
    def findings(self) -> list[Finding]:
        """What was told, but for other programs that were not planted: this machine may be shared."""
        told = [] if self.verdict is None else findings_of(self.verdict)
        ours = {self.fault.expected, *self.fault.acceptable}
        return [one for one in told if one.bottleneck not in NOT_OURS - ours]

    @property
    def shared(self) -> bool:
        """Whether other programs disturbed it."""
        told = [] if self.verdict is None else findings_of(self.verdict)
        return len(told) != len(self.findings)

    @property
    def named(self) -> str:
        """The first of them."""
        return self.findings[0].bottleneck if self.findings else "nothing"

    @property
    def beside(self) -> list[str]:
        """What else would save more than 3 % of the step."""
        step_ms = 0.0 if self.verdict is None else self.verdict.step_ms or 0.0
        return [one.bottleneck for one in self.findings[1:] if saved_ms(one, step_ms) > 0.03 * step_ms]

    @property
    def right(self) -> bool:
        expected = self.fault.expected
        if expected is None:
            return self.named in BY_NAME and BY_NAME[self.named].healthy and not self.beside
        if self.named == expected:
            return True
        others = [one.bottleneck for one in self.findings]
        return self.named in self.fault.acceptable and expected in others


def diagnosed(fault: Fault, seconds: float) -> Verdict | None:
    """Train for so long after the first steps; the last verdict that says something, else the last one."""
    with tempfile.TemporaryDirectory() as folder, burning(fault.burners):
        preset = gputrain_presets.load(str(fault.write(Path(folder))))
        telemetry = Telemetry()
        options = SessionOptions(preset=preset, device="cpu", overrides=tuple(fault.settings.items()))
        session = Session(options, telemetry=telemetry)
        telemetry.start()
        session.start()
        try:
            return _watch(session, seconds)
        finally:
            session.stop()
            telemetry.stop()


def _watch(session: Session, seconds: float) -> Verdict | None:
    verdicts: list[Verdict] = []
    position, begun = 0, None
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline:
        entries, position = session.read(position)
        verdicts += [entry for entry in entries if isinstance(entry, Verdict)]
        if session.state == "died":
            raise SystemExit(f"it died: {session.reason}")
        if begun is None and session.state == "running":
            begun = time.monotonic()
            deadline = begun + seconds
        time.sleep(0.1)
    said = [told for told in verdicts if told.bottleneck != names.CANNOT_SAY]
    return said[-1] if said else verdicts[-1] if verdicts else None


def measure(seconds: float = SECONDS, chosen: list[str] | None = None) -> list[Told]:
    """The table, printed as it comes."""
    cores = host_facts().cores or 1
    told = []
    print(f"{'planted':<28} {'named':<24} {'slice':>6} {'beside':<50}")
    for name, fault in faults(cores).items():
        if (chosen and name not in chosen) or fault.needs_cores > cores:
            continue
        one = Told(name, fault, diagnosed(fault, seconds))
        told.append(one)
        share, step_ms = "", one.verdict.step_ms if one.verdict is not None else None
        if one.findings and one.findings[0].slice_ms is not None and step_ms:
            share = f"{one.findings[0].slice_ms / step_ms:.0%}"
        mark = "" if one.right else f"   WRONG, expected {fault.expected or 'no problem'}"
        mark += "   (other programs ran)" if one.shared else ""
        print(f"{name:<28} {one.named:<24} {share:>6} {', '.join(one.beside):<50}{mark}", flush=True)
    print(f"{sum(one.right for one in told)} of {len(told)} right")
    return told


if __name__ == "__main__":
    arguments = sys.argv[1:]
    span_s = float(arguments.pop(0)) if arguments and arguments[0].replace(".", "").isdigit() else SECONDS
    raise SystemExit(not all(one.right for one in measure(span_s, arguments)))
