"""A stand-in for nvidia-ml-py whose functions are the test's own: for single questions to the driver."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

import pynvml

from gputrain_runner.telemetry.driver import Driver
from gputrain_runner.telemetry.meter import Meter
from gputrain_runner.telemetry.question import Question

HANDLE = "the handle"
NOT_SUPPORTED, NO_PERMISSION, NOT_FOUND, TIMEOUT, LOST = 3, 4, 6, 10, 15


class Binding:
    """The real binding's structures and errors, with functions of the test's own."""

    NVMLError = pynvml.NVMLError
    c_nvmlFieldValue_t = pynvml.c_nvmlFieldValue_t  # noqa: N815 - the binding's name
    c_nvmlGpmMetricsGet_t = pynvml.c_nvmlGpmMetricsGet_t  # noqa: N815 - the binding's name

    def __init__(self, **functions: Callable[..., Any]) -> None:
        vars(self).update(functions)
        self.fields: dict[int, int | DriverFault] = {}
        self.asked: list[list[tuple[int, int]]] = []

    def _nvmlGetFunctionPointer(self, name: str) -> Callable[..., int]:  # noqa: N802 - the binding's name
        assert name == "nvmlDeviceGetFieldValues"
        return self._fill

    def _fill(self, handle: object, count: ctypes.c_int, values: Any) -> int:
        asked = [values._obj[at] for at in range(count.value)]
        self.asked.append([(value.fieldId, value.scopeId) for value in asked])
        for value in asked:
            answer = self.fields.get(value.fieldId, DriverFault(NOT_SUPPORTED))
            value.valueType = 3
            value.nvmlReturn = answer.code if isinstance(answer, DriverFault) else 0
            value.value.ullVal = 0 if isinstance(answer, DriverFault) else answer
        # As drivers were seen to: one entry more than asked for.
        values._obj[count.value].fieldId = 0xDEAD
        return 0


class DriverFault:
    """A field that has no value."""

    def __init__(self, code: int) -> None:
        self.code = code


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


def fault(code: int) -> Callable[..., Any]:
    """A function that fails."""

    def fail(*_: object) -> Any:
        raise pynvml.NVMLError(code)

    return fail


def question(binding: Binding, **more: Any) -> Question:
    clock = more.pop("clock", Clock())
    settings = {"known": {}, "every_s": 1.0, "notes": {}, **more}
    return Question(driver=Driver(binding, Meter()), handle=HANDLE, clock=clock, **settings)  # type: ignore[arg-type]
