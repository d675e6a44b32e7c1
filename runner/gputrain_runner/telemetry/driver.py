"""The driver library (NVML) behind one door: every call timed, every failure of a known kind."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import byref, c_int
from enum import Enum
from types import ModuleType
from typing import Any

from .meter import Meter


class Kind(Enum):
    """What a failure means for the next time."""

    UNSUPPORTED = "not supported"
    """This card or driver will never answer it."""
    NO_PERMISSION = "no permission"
    """This user will never get it."""
    LOST = "lost"
    """The whole GPU is gone, until it comes back."""
    UNKNOWN = "unknown error"
    """One call: perhaps a quirk. Every call: the GPU cannot be reached."""
    UNREADABLE = "unreadable"
    """It answered, but not with text."""
    TRANSIENT = "no answer now"
    """It may answer the next time."""


NOT_FOUND = 6
LOST = 15
RESET_REQUIRED = 16
UNKNOWN = 999

_KINDS = {
    3: Kind.UNSUPPORTED,  # NVML_ERROR_NOT_SUPPORTED
    13: Kind.UNSUPPORTED,  # NVML_ERROR_FUNCTION_NOT_FOUND
    22: Kind.UNSUPPORTED,  # NVML_ERROR_VGPU_ECC_NOT_SUPPORTED
    25: Kind.UNSUPPORTED,  # NVML_ERROR_ARGUMENT_VERSION_MISMATCH
    26: Kind.UNSUPPORTED,  # NVML_ERROR_DEPRECATED
    4: Kind.NO_PERMISSION,  # NVML_ERROR_NO_PERMISSION
    LOST: Kind.LOST,  # NVML_ERROR_GPU_IS_LOST
    RESET_REQUIRED: Kind.LOST,  # NVML_ERROR_RESET_REQUIRED
    28: Kind.LOST,  # NVML_ERROR_GPU_NOT_FOUND
    UNKNOWN: Kind.UNKNOWN,  # NVML_ERROR_UNKNOWN
}

MISMATCH = (
    "nvidia-ml-py and the driver's library do not fit together; "
    "update the driver, or install the nvidia-ml-py of its version"
)

_FIELD_KINDS = {2: Kind.UNSUPPORTED}
"""A field that the driver does not know is an invalid argument to it."""

_MEMBERS = {0: "dVal", 1: "uiVal", 2: "ulVal", 3: "ullVal", 4: "sllVal", 5: "siVal", 6: "usVal"}
"""The member of a field's value, by its NVML_VALUE_TYPE_*."""
UNSIGNED_INT = 1

Field = int | tuple[int, int]
"""A field's number, or that and its scope (a link)."""


class DriverError(Exception):
    """A driver call that gave no value."""

    def __init__(self, kind: Kind, text: str, code: int | None = None) -> None:
        super().__init__(text)
        self.kind = kind
        self.code = code


class Driver:
    """The calls. Each thread has its own; none is used after a fork."""

    def __init__(self, binding: ModuleType, meter: Meter) -> None:
        self._binding = binding
        self._error: type[Exception] = binding.NVMLError
        self._mismatch: type[Exception] | tuple[()] = getattr(binding, "NVMLLibraryMismatchError", ())
        self.meter = meter

    def with_meter(self, meter: Meter) -> Driver:
        """The same library for another thread, whose calls are counted apart."""
        return Driver(self._binding, meter)

    def call(self, name: str, *arguments: object) -> Any:
        """What the binding's function `name` returns; DriverError where it gives nothing.

        Its `NVMLError` is neither hashable nor comparable, so it goes no further than this.
        """
        function = getattr(self._binding, name, None)
        if function is None:
            raise DriverError(Kind.UNSUPPORTED, f"nvidia-ml-py has no {name}")
        return self._timed(function, *arguments)

    def _timed(self, function: Callable[..., Any], *arguments: object) -> Any:
        try:
            with self.meter.timing():
                return function(*arguments)
        except self._error as error:
            # Its text is not asked for: for some codes that is a driver call again.
            code = int(getattr(error, "value", UNKNOWN))
            name_of_error = type(error).__name__.removeprefix("NVMLError_")
            raise DriverError(
                _KINDS.get(code, Kind.TRANSIENT), f"error {code} ({name_of_error})", code
            ) from None
        except self._mismatch:
            raise DriverError(Kind.UNSUPPORTED, MISMATCH) from None
        except UnicodeDecodeError as error:
            raise DriverError(Kind.UNREADABLE, str(error)) from None

    def field_values(self, handle: object, *fields: int) -> list[FieldValue]:
        """The values of several of a GPU's fields in one call; DriverError where one of them has none."""
        answers = self.call("nvmlDeviceGetFieldValues", handle, list(fields))
        return [_field_value(answer) for answer in answers]

    def fields_apart(self, handle: object, fields: Sequence[Field]) -> dict[Field, FieldValue | DriverError]:
        """The same, where each field may fail by itself."""
        answers = self._timed(self._padded, handle, fields)
        found: dict[Field, FieldValue | DriverError] = {}
        for asked, answer in zip(fields, answers, strict=False):
            try:
                found[asked] = _field_value(answer)
            except DriverError as error:
                found[asked] = error
        return found

    def _padded(self, handle: object, fields: Sequence[Field]) -> Sequence[Any]:
        """As the binding's nvmlDeviceGetFieldValues, with room behind: drivers were seen to write one
        entry more than asked for where a field has a scope."""
        binding = self._binding
        values = (binding.c_nvmlFieldValue_t * (len(fields) + 1))()
        for value, asked in zip(values, fields, strict=False):
            value.fieldId, value.scopeId = asked if isinstance(asked, tuple) else (asked, 0)
        function = binding._nvmlGetFunctionPointer("nvmlDeviceGetFieldValues")
        code = function(handle, c_int(len(fields)), byref(values))
        if code != 0:
            raise binding.NVMLError(code)
        return list(values)[: len(fields)]

    def structure(self, name: str) -> Any:
        """An empty C structure of the binding's; DriverError where it is too old to have it."""
        kind = getattr(self._binding, name, None)
        if kind is None:
            raise DriverError(Kind.UNSUPPORTED, f"nvidia-ml-py has no {name}")
        return kind()


class FieldValue:
    """One field's number and the width it came in."""

    __slots__ = ("number", "value_type")

    def __init__(self, number: float | int, value_type: int) -> None:
        self.number = number
        self.value_type = value_type


def failure(code: int, what: str) -> DriverError:
    """What a code means that came with one of several answers."""
    kind = _FIELD_KINDS.get(code) or _KINDS.get(code, Kind.TRANSIENT)
    return DriverError(kind, f"{what}: error {code}", code)


def typed(value: Any, value_type: int) -> float | int | None:
    """The number in one of the driver's values, of whichever type; None where the type is unknown."""
    number: float | int | None = getattr(value, _MEMBERS.get(value_type, ""), None)
    return number


def _field_value(answer: Any) -> FieldValue:
    code = int(answer.nvmlReturn)
    if code != 0:
        raise failure(code, f"field {answer.fieldId}")
    value_type = int(answer.valueType)
    number = typed(answer.value, value_type)
    if number is None:
        raise DriverError(Kind.UNSUPPORTED, f"field {answer.fieldId}: value type {value_type}")
    return FieldValue(number, value_type)
