"""A user's own arrays in files: what they become, and what is said of wrong ones."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gputrain_presets import PresetError
from gputrain_presets.user_data import FilesData
from gputrain_runner.worker import data
from gputrain_runner.worker.data import Dataset, Split
from gputrain_runner.worker.data.arrays import Array

LABELS = np.arange(40, dtype=np.int64) % 4
PIXELS = (np.arange(40 * 6) % 256).astype(np.uint8).reshape(40, 2, 3)


def files(folder: Path, **options: Any) -> FilesData:
    return FilesData(path=str(folder), **{"inputs": "x.npy", "targets": "y.npy", **options})


def load(what: FilesData) -> Dataset:
    return data.load(what, None)  # type: ignore[arg-type]


def split_of(dataset: Dataset) -> Split:
    assert isinstance(dataset.training, Split)
    return dataset.training


def write_idx(path: Path, array: Array, kind: int) -> None:
    content = struct.pack(f">BBBB{array.ndim}I", 0, 0, kind, array.ndim, *array.shape)
    content += array.astype(array.dtype.newbyteorder(">")).tobytes()
    path.write_bytes(gzip.compress(content) if path.suffix == ".gz" else content)


def test_arrays_in_npy_files(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", PIXELS)
    np.save(tmp_path / "y.npy", LABELS)

    dataset = load(files(tmp_path))

    split = split_of(dataset)
    assert torch.equal(split.inputs, torch.from_numpy(PIXELS).float() * (1 / 255))
    assert torch.equal(split.targets, torch.from_numpy(LABELS))
    assert dataset.validation is None
    assert not dataset.synthetic
    assert dataset.description == f"x.npy and y.npy in {tmp_path}: 40 samples of (2, 3) float32"
    assert data.example_inputs(files(tmp_path), 2).shape == (2, 2, 3)


def test_arrays_of_an_archive(tmp_path: Path) -> None:
    np.savez(tmp_path / "d.npz", a=PIXELS, b=LABELS, c=PIXELS[:7], d=LABELS[:7])
    names = {"inputs": "a", "targets": "b", "validation_inputs": "c", "validation_targets": "d"}

    dataset = load(files(tmp_path / "d.npz", **names))

    assert (len(dataset.training), len(dataset.validation or ())) == (40, 7)


def test_archives_of_one_array_are_files_like_others(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "x.npz", PIXELS)
    np.savez(tmp_path / "y.npz", LABELS)

    assert len(load(files(tmp_path, inputs="x.npz", targets="y.npz")).training) == 40


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_idx_files(tmp_path: Path, ending: str) -> None:
    numbers = np.linspace(-1, 1, 80, dtype=np.float32).reshape(40, 2)
    write_idx(tmp_path / f"x-idx2{ending}", numbers, 0x0D)
    write_idx(tmp_path / f"y-idx1{ending}", LABELS.astype(np.int32), 0x0C)

    split = split_of(load(files(tmp_path, inputs=f"x-idx2{ending}", targets=f"y-idx1{ending}")))

    assert torch.equal(split.inputs, torch.from_numpy(numbers))
    assert torch.equal(split.targets, torch.from_numpy(LABELS))


@pytest.mark.parametrize(
    ("array", "options", "dtype", "first"),
    [
        (PIXELS, {}, torch.float32, 1 / 255),
        (PIXELS, {"input_scale": 2.0}, torch.float32, 2.0),
        (PIXELS, {"input_dtype": "int64"}, torch.int64, 1),
        (PIXELS.astype(np.int32), {}, torch.int64, 1),
        (PIXELS.astype(np.int16), {"input_dtype": "float32"}, torch.float32, 1.0),
        (PIXELS.astype(np.float64) / 4, {}, torch.float32, 0.25),
        (PIXELS.astype(np.float16), {}, torch.float32, 1.0),
        (PIXELS.astype(">f4"), {"input_scale": 0.5}, torch.float32, 0.5),
        (PIXELS > 0, {}, torch.float32, 1.0),
        (np.asfortranarray(PIXELS), {}, torch.float32, 1 / 255),
    ],
)
def test_what_inputs_become(
    tmp_path: Path, array: Array, options: dict[str, Any], dtype: torch.dtype, first: float
) -> None:
    np.save(tmp_path / "x.npy", array)
    np.save(tmp_path / "y.npy", LABELS)

    inputs = split_of(load(files(tmp_path, **options))).inputs

    assert inputs.dtype == dtype
    assert inputs.is_contiguous()
    assert inputs[0, 0, 1].item() == pytest.approx(first)


@pytest.mark.parametrize(
    ("array", "options", "dtype", "shape"),
    [
        (LABELS.astype(np.uint8), {}, torch.int64, ()),
        (LABELS.reshape(40, 1), {}, torch.int64, ()),
        (LABELS.astype(np.float64), {}, torch.float32, ()),
        (LABELS.astype(np.float64).reshape(40, 1), {}, torch.float32, (1,)),
        (LABELS.astype(np.float64), {"target_dtype": "int64"}, torch.int64, ()),
        (LABELS.reshape(40, 1), {"target_dtype": "float32"}, torch.float32, (1,)),
        (LABELS > 1, {}, torch.int64, ()),
    ],
)
def test_what_targets_become(
    tmp_path: Path, array: Array, options: dict[str, Any], dtype: torch.dtype, shape: tuple[int, ...]
) -> None:
    np.save(tmp_path / "x.npy", PIXELS)
    np.save(tmp_path / "y.npy", array)

    targets = split_of(load(files(tmp_path, **options))).targets

    assert (targets.dtype, targets.shape[1:]) == (dtype, shape)


def test_a_share_is_kept_for_validation_and_nothing_is_in_both(tmp_path: Path) -> None:
    numbers = np.arange(1000, dtype=np.float32)
    np.save(tmp_path / "x.npy", numbers)
    np.save(tmp_path / "y.npy", numbers)

    dataset = load(files(tmp_path, validation_share=0.1))
    fewer = load(files(tmp_path, validation_share=0.1, training_samples=50))

    assert isinstance(dataset.validation, Split)
    seen, unseen = split_of(dataset).inputs, dataset.validation.inputs
    assert (len(seen), len(unseen), len(fewer.training)) == (900, 100, 50)
    assert torch.equal(torch.cat([seen, unseen]).sort()[0], torch.from_numpy(numbers))
    assert torch.equal(split_of(dataset).targets, seen)
    assert unseen.std() > 200, "all over the files"


def complaint(what: FilesData) -> str:
    with pytest.raises(PresetError) as caught:
        load(what)
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "there is no such file"),
        (b"", "is not a .npy, .npz or IDX file: it begins with nothing"),
        (b"x,y\n1,2\n", "is not a .npy, .npz or IDX file: it begins with 782c790a"),
        (b"\x93NUMPY\x01\x00", "cannot be read: "),
        (b"PK\x03\x04junk", "cannot be read: "),
        (b"\x1f\x8bjunk", "is not whole: "),
        (b"\0\0\x08", "is not a .npy, .npz or IDX file: it begins with 000008"),
        (b"\0\0\x07\x01" + bytes(8), "is not a .npy, .npz or IDX file: it begins with 00000701"),
        (b"\0\0\x08\x02" + bytes(5), "ends within its header, after 9 of 12 bytes"),
        (b"\0\0\x08\x01" + struct.pack(">I", 9) + b"abc", "holds 3 bytes of data, its header says 9 numbers"),
    ],
)
def test_a_file_that_is_none(tmp_path: Path, content: bytes | None, said: str) -> None:
    np.save(tmp_path / "y.npy", LABELS)
    if content is not None:
        (tmp_path / "x.npy").write_bytes(content)

    assert complaint(files(tmp_path)).startswith(f"data.inputs: {tmp_path / 'x.npy'}: {said}")


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.array(["a"] * 40), "holds text, allowed: numbers"),
        (np.ones(40, dtype=np.complex64), "holds complex numbers, allowed: numbers"),
        (np.array(3.0), "holds no samples; its shape is ()"),
        (np.zeros((0, 3)), "holds no samples; its shape is (0, 3)"),
    ],
)
def test_an_array_that_is_no_data(tmp_path: Path, array: Array, said: str) -> None:
    np.save(tmp_path / "x.npy", array)
    np.save(tmp_path / "y.npy", LABELS)

    assert complaint(files(tmp_path)) == f"data.inputs: {tmp_path / 'x.npy'}: {said}"


def test_an_array_of_objects_is_never_unpickled(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.array([{}] * 40, dtype=object), allow_pickle=True)
    np.save(tmp_path / "y.npy", LABELS)

    assert "cannot be read: " in complaint(files(tmp_path))


def test_a_file_that_is_cut(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", PIXELS)
    np.save(tmp_path / "y.npy", LABELS)
    whole = (tmp_path / "x.npy").read_bytes()
    (tmp_path / "x.npy").write_bytes(whole[:-9])

    assert complaint(files(tmp_path)).startswith(f"data.inputs: {tmp_path / 'x.npy'}: cannot be read: ")


def test_arrays_that_do_not_fit_together(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", PIXELS)
    np.save(tmp_path / "y.npy", LABELS[:-1])
    np.save(tmp_path / "z.npy", LABELS)
    np.save(tmp_path / "v.npy", PIXELS[:, :1])
    np.savez(tmp_path / "d.npz", a=PIXELS, b=LABELS)
    validation = {"targets": "z.npy", "validation_inputs": "v.npy", "validation_targets": "z.npy"}

    counts = complaint(files(tmp_path))
    shapes = complaint(files(tmp_path, **validation))
    nothing_left = complaint(files(tmp_path, targets="z.npy", validation_share=0.99))
    no_array = complaint(files(tmp_path / "d.npz", inputs="a", targets="c"))
    no_name = complaint(files(tmp_path, inputs="d.npz"))
    no_archive = complaint(files(tmp_path / "x.npy"))

    assert counts == "data.targets: y.npy holds 39 samples, x.npy 40; allowed: as many"
    assert shapes == "data.validation_inputs: samples of shape (1, 3), allowed: (2, 3), as to train on"
    assert nothing_left == "data.validation_share: leaves nothing to train on of 40 samples"
    assert no_array == f"data.targets: {tmp_path / 'd.npz'}: has no array 'c'; it has a, b"
    assert no_name.startswith(f"data.inputs: {tmp_path / 'd.npz'}: holds the arrays a, b; data.path takes")
    assert no_archive.startswith(f"data.inputs: {tmp_path / 'x.npy'}: is not an .npz archive")


@pytest.mark.parametrize("value", [np.nan, np.inf, 1e300])
def test_a_number_that_is_not_finite(tmp_path: Path, value: float) -> None:
    numbers = np.zeros((40, 3))
    numbers[17, 1] = value
    np.save(tmp_path / "x.npy", numbers)
    np.save(tmp_path / "y.npy", LABELS)

    said = complaint(files(tmp_path))

    found = "nan" if np.isnan(value) else "inf"
    assert said == f"data.inputs: sample 17, counted from 0, holds {found}, allowed: finite numbers"
