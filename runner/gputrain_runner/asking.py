"""A worker that is asked questions and trains nothing: started, asked, stopped."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Sequence
from typing import TypeVar

from .process import WorkerError, WorkerProcess
from .protocol import Command, Failed, Hello, Report

Answer = TypeVar("Answer")


class AskError(Exception):
    """The worker gave no answer; the text is one line for the user.

    Attributes:
        usage: whether a file or the command line is wrong, rather than something having failed.
    """

    def __init__(self, text: str, usage: bool = False) -> None:
        super().__init__(text)
        self.usage = usage


def ask(
    commands: Sequence[Command],
    answer: type[Answer],
    *,
    hear: Callable[[Report], None] = lambda _report: None,
    last: Callable[[Answer], bool] = lambda _answer: True,
) -> tuple[Hello, list[Answer]]:
    """Send `commands` to a new worker, collect what it answers, and end it.

    Args:
        commands: sent at once, in order.
        answer: the type of report that answers them.
        hear: is given every report as it comes.
        last: whether an answer is the last one to its command.

    Raises:
        AskError: the worker cannot be started, fails, or ends too early.
    """
    heard: queue.SimpleQueue[Report | _End] = queue.SimpleQueue()
    try:
        worker = WorkerProcess()
    except WorkerError as error:
        raise AskError(str(error)) from None
    try:
        worker.attach(heard.put, lambda why: heard.put(_End(why)))
        for command in commands:
            worker.send(command)
        return _collect(worker, heard, answer, len(commands), hear, last)
    except WorkerError as error:
        raise AskError(str(error)) from None
    finally:
        worker.stop()


def hello(timeout_s: float = 120.0) -> Hello:
    """What a worker says of PyTorch and this machine's devices.

    Raises:
        AskError: it cannot be started, or ends too early.
    """
    said = threading.Event()
    try:
        worker = WorkerProcess()
    except WorkerError as error:
        raise AskError(str(error)) from None
    try:
        worker.attach(lambda _report: said.set(), lambda _why: said.set())
        said.wait(timeout_s)
        if worker.hello is None:
            last = worker.log_tail(1)
            raise AskError("the worker ended before PyTorch was loaded" + (f": {last[0]}" if last else ""))
        return worker.hello
    finally:
        worker.stop(grace_s=0)


class _End:
    """The worker's process is gone."""

    def __init__(self, why: str | None) -> None:
        self.why = why


def _collect(
    worker: WorkerProcess,
    heard: queue.SimpleQueue[Report | _End],
    answer: type[Answer],
    questions: int,
    hear: Callable[[Report], None],
    last: Callable[[Answer], bool],
) -> tuple[Hello, list[Answer]]:
    answers: list[Answer] = []
    while questions:
        news = heard.get()
        if isinstance(news, _End):
            said = worker.log_tail(1)
            raise AskError(
                f"the worker {news.why or 'ended before it had answered'}"
                + (f"; it said last: {said[0]}" if said else "")
            )
        hear(news)
        if isinstance(news, Failed):
            raise AskError(news.error, news.usage)
        if isinstance(news, answer):
            answers.append(news)
            questions -= last(news)
    assert worker.hello is not None  # It is the first thing a worker says.
    return worker.hello, answers
