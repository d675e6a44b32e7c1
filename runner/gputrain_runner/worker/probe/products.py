"""Matrix products at a size that fills the device: the rate that no training can exceed.

(But for convolutions by Winograd's method, which compute the same with fewer multiplications.)
"""

from __future__ import annotations

from collections.abc import Callable

import torch

from ..execution import precision as precisions
from .rounds import Repeat
from .timing import Room, seconds_of, times_within, within_memory

SIZES = (256, 512, 1024, 2048, 4096, 8192, 16384)
"""Square matrices. The ramp goes up until the rate grows no more."""
GROWS = 1.03
"""A larger size that is so much faster has not filled the device yet."""
ENOUGH = 2
"""So many sizes in a row that are not faster end the ramp: one may have had bad luck."""
_STEP = 8
"""How many times the work the next size has."""
TOO_SLOW_S = 0.25
"""Where even the smallest product takes longer, the precision is emulated: nobody trains in it."""
_TYPES = {"fp32": torch.float32, "tf32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
_SHORTEST_S = 0.003
"""So long the products of one look at a size take together: waiting for the device costs microseconds."""


class Product:
    """A product of two square matrices, done again and again.

    Args:
        room: what it may take.
        precision: "fp32", "tf32", "bf16" or "fp16".
        size: rows and columns.
    """

    def __init__(self, room: Room, precision: str, size: int) -> None:
        self._room = room
        self._precision = precision
        self._flops = 2.0 * size**3
        # A generator of its own: the training's random numbers are to come as if nothing had been.
        generator = torch.Generator(room.device).manual_seed(size)
        self._left, self._right = (
            torch.randn(size, size, device=room.device, dtype=_TYPES[precision], generator=generator)
            for _ in range(2)
        )
        self._result = torch.empty_like(self._left)
        self.seconds = self._look()
        """One product's time when it was tried out."""

    @property
    def tried_flops_per_s(self) -> float:
        """The rate when it was tried out."""
        return self._flops / self.seconds

    def flops_per_s(self) -> float:
        """One repeat: the rate over some products, after one that does not count."""
        self._set_arithmetic()
        self._multiply()
        times = times_within(self._room.repeat_s, self.seconds)
        return self._flops * times / seconds_of(self._multiply, self._room.device, times)

    def _look(self) -> float:
        self._set_arithmetic()
        self._multiply()  # Loads the library, chooses the kernel.
        first = seconds_of(self._multiply, self._room.device)
        times = min(8, times_within(_SHORTEST_S, first))
        return min(seconds_of(self._multiply, self._room.device, times) / times for _ in range(3))

    def _multiply(self) -> None:
        torch.mm(self._left, self._right, out=self._result)

    def _set_arithmetic(self) -> None:
        if self._room.device.type == "cuda":
            precisions.allow_tf32_products(self._precision == "tf32")


def rate(room: Room, precision: str) -> Repeat | None:
    """Measures the rate of products that fill the device; None where it has no such precision."""
    product = filling(room, precision)
    return None if product is None else product.flops_per_s


def filling(room: Room, precision: str) -> Product | None:
    """The product whose size fills the device; None where it has no such precision, or emulates it.

    No size is tried that would presumably take longer than one repeat is to last. Where the rate grows as
    fast as the work, something else takes the time (the launch, threads that wait for one another), and the
    next size takes no longer.
    """
    best: Product | None = None
    best_rate = 0.0
    left_behind = 0
    for size in SIZES:
        if 3 * size * size * _TYPES[precision].itemsize > room.memory_bytes:
            break
        tried = within_memory(_product(room, precision, size))
        if tried is None or (best is None and tried.seconds > TOO_SLOW_S):
            break
        growth = _STEP if best is None else tried.tried_flops_per_s / best_rate
        if growth > 1 / GROWS:  # Of sizes that are alike the larger: less depends on how each one begins.
            best = tried
        best_rate = max(best_rate, tried.tried_flops_per_s)
        left_behind = 0 if growth > GROWS else left_behind + 1
        if left_behind == ENOUGH or tried.seconds * max(1.0, _STEP / growth) > room.repeat_s:
            break
    return best


def _product(room: Room, precision: str, size: int) -> Callable[[], Product]:
    return lambda: Product(room, precision, size)
