"""Devices' names without what says nothing."""

from __future__ import annotations

import pytest

from gputrain_tui.device_names import beside, short


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("AMD EPYC 9V74 80-Core Processor", "EPYC 9V74"),
        ("AMD Ryzen 9 7950X 16-Core Processor", "Ryzen 9 7950X"),
        ("AMD Ryzen Threadripper PRO 3995WX 64-Cores", "Ryzen Threadripper PRO 3995WX"),
        ("AMD Ryzen 7 5800H with Radeon Graphics", "Ryzen 7 5800H"),
        ("AMD Ryzen AI 9 HX 370 w/ Radeon 890M", "Ryzen AI 9 HX 370"),
        ("Intel(R) Core(TM) i7-6700K CPU @ 4.00GHz", "i7-6700K"),
        ("12th Gen Intel(R) Core(TM) i7-12700H", "i7-12700H"),
        ("Intel(R) Core(TM) Ultra 7 155H", "Ultra 7 155H"),
        ("Intel(R) Core(TM)2 Duo CPU     E8400  @ 3.00GHz", "Core2 Duo E8400"),
        ("Intel(R) Xeon(R) Platinum 8358 CPU @ 2.60GHz", "Xeon Platinum 8358"),
        ("Intel(R) Xeon(R) CPU @ 2.20GHz", "Xeon"),
        ("NVIDIA H200", "H200"),
        ("NVIDIA GeForce RTX 4090", "RTX 4090"),
        ("NVIDIA GeForce GTX 1080 Ti", "GTX 1080 Ti"),
        ("NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"),
        ("NVIDIA RTX 6000 Ada Generation", "RTX 6000 Ada"),
        ("Tesla T4", "Tesla T4"),
        ("Apple M2 Pro", "Apple M2 Pro"),
        ("Neoverse-N1", "Neoverse-N1"),
        ("Intel(R) Processor", "Intel(R) Processor"),
    ],
)
def test_what_tells_them_apart_stays(name: str, expected: str) -> None:
    assert short(name) == expected


def test_a_cpu_is_said_to_be_one() -> None:
    assert beside("cpu", "AMD EPYC 9V74 80-Core Processor") == "cpu EPYC 9V74"
    assert beside("cuda:0", "NVIDIA H200") == "H200"
    assert beside("cuda:0", None) == "cuda:0"
    assert beside("cpu", "cpu") == "cpu"
    assert beside(None, None) == ""
