"""What the probe found on this machine, kept from one session to the next: a small file per device.

A file is found again by what the figures depend on: the GPU's UUID and its driver, or the CPU's model and
the cores it may use, and PyTorch's version. Figures of other versions stay beside it under their own names.
"""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct, structs

from .ceilings import Ceilings, Probe
from .paths import probes_folder
from .timeline import Device, Host


class StoreError(Exception):
    """The figures could not be kept; the text is one line for the user."""


class _Kept(Struct, frozen=True, kw_only=True):
    """What a file holds."""

    schema: Literal["gputrain-probe"] = "gputrain-probe"
    version: Literal[1] = 1
    key: list[str]
    ceilings: Ceilings


def stored(devices: Sequence[Device], host: Host) -> Probe:
    """The ceilings kept of these devices, by the devices' names now.

    Args:
        devices: which.
        host: the machine as it is now, with the versions of PyTorch and driver.

    Returns:
        Those that were measured under the same versions. A file that cannot be read counts as none, and
        stays where it is.
    """
    found = {}
    for device in devices:
        key = _key(device.device, device.name, device.uuid, host.torch, host.driver, host)
        kept = None if key is None else _read(_path(key), key)
        if kept is not None:
            found[device.device] = structs.replace(kept, device=device.device)
    return found


def keep(ceilings: Ceilings, host: Host) -> Path | None:
    """Keep the ceilings of a device of this machine in place of those measured before.

    Noisy ones are kept only as long as there are no better ones.

    Returns:
        The file; None for a GPU without a UUID, which cannot be told from another.

    Raises:
        StoreError: it cannot be written; what was there is still there.
    """
    key = _key(ceilings.device, ceilings.name, ceilings.uuid, ceilings.torch, ceilings.driver, host)
    if key is None:
        return None
    path = _path(key)
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        before = _read(path, key)
        if before is None and path.exists():
            path.replace(path.with_suffix(".damaged"))
        if before is not None and ceilings.noisy and not before.noisy:
            return path
        _write(path, msgspec.json.format(msgspec.json.encode(_Kept(key=key, ceilings=ceilings)), indent=1))
    except OSError as error:
        raise StoreError(
            f"{path}: {error.strerror}: the ceilings are not kept for the next session"
        ) from None
    return path


def _key(
    device: str, name: str | None, uuid: str | None, torch: str | None, driver: str | None, host: Host
) -> list[str] | None:
    """What the figures depend on."""
    if device == "cpu":
        return ["cpu", name or host.cpu or "", f"{host.cores} cores", torch or ""]
    return None if uuid is None else [uuid, driver or "", torch or ""]


def _path(key: Sequence[str]) -> Path:
    # The hash tells apart what the readable part does not.
    readable = re.sub(r"[^A-Za-z0-9.+]+", "-", " ".join(key)).strip("-.")[:100]
    digest = hashlib.sha256("\0".join(key).encode("utf-8", "replace")).hexdigest()[:12]
    return probes_folder() / f"{readable}-{digest}.json"


def _read(path: Path, key: Sequence[str]) -> Ceilings | None:
    """What the file holds; None where there is none, or it is damaged or another's."""
    try:
        kept = msgspec.json.decode(path.read_bytes(), type=_Kept)
    except (OSError, msgspec.DecodeError, UnicodeDecodeError):
        return None
    return kept.ceilings if kept.key == list(key) else None


def _write(path: Path, data: bytes) -> None:
    """Put the file in its place whole, or not at all."""
    fd, name = tempfile.mkstemp(prefix=".probe-", dir=path.parent)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
        Path(name).replace(path)
    except BaseException:
        with suppress(OSError):
            Path(name).unlink()
        raise
