"""The driver library (NVML) behind one door: every call timed, every failure of a known kind."""

from __future__ import annotations

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


class DriverError(Exception):
    """A driver call that gave no value."""

    def __init__(self, kind: Kind, text: str, code: int | None = None) -> None:
        super().__init__(text)
        self.kind = kind
        self.code = code


class Driver:
    """The calls. Used by one thread only, and by none after a fork."""

    def __init__(self, binding: ModuleType, meter: Meter) -> None:
        self._binding = binding
        self._error: type[Exception] = binding.NVMLError
        self._mismatch: type[Exception] | tuple[()] = getattr(binding, "NVMLLibraryMismatchError", ())
        self.meter = meter

    def call(self, name: str, *arguments: object) -> Any:
        """What the binding's function `name` returns; DriverError where it gives nothing.

        Its `NVMLError` is neither hashable nor comparable, so it goes no further than this.
        """
        function = getattr(self._binding, name, None)
        if function is None:
            raise DriverError(Kind.UNSUPPORTED, f"nvidia-ml-py has no {name}")
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


class FieldValue:
    """One field's number and the width it came in."""

    __slots__ = ("number", "value_type")

    def __init__(self, number: float | int, value_type: int) -> None:
        self.number = number
        self.value_type = value_type


def _field_value(answer: Any) -> FieldValue:
    code = int(answer.nvmlReturn)
    if code != 0:
        kind = _FIELD_KINDS.get(code) or _KINDS.get(code, Kind.TRANSIENT)
        raise DriverError(kind, f"field {answer.fieldId}: error {code}", code)
    value_type = int(answer.valueType)
    number = getattr(answer.value, _MEMBERS.get(value_type, ""), None)
    if number is None:
        raise DriverError(Kind.UNSUPPORTED, f"field {answer.fieldId}: value type {value_type}")
    return FieldValue(number, value_type)
