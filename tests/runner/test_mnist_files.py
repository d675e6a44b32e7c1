"""Digits from files: the forms in which MNIST is found, and what is said of files that are wrong."""

from __future__ import annotations

import gzip
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import gputrain_presets
from gputrain_presets.spec import DigitsData
from gputrain_runner.worker import data
from training import in_memory

MODEL = gputrain_presets.load("keras-mnist-mlp").model
RANDOM = np.random.default_rng(0)
TRAINING = RANDOM.integers(0, 256, (30, 28, 28), dtype=np.uint8)
TRAINING[0] = 0
TRAINING_LABELS = np.arange(30, dtype=np.uint8) % 10
TEST = RANDOM.integers(0, 256, (20, 28, 28), dtype=np.uint8)
TEST_LABELS = np.arange(20, dtype=np.uint8)[::-1] % 10
IDX_FILES = {
    "train-images": (TRAINING, "idx3-ubyte"),
    "train-labels": (TRAINING_LABELS, "idx1-ubyte"),
    "t10k-images": (TEST, "idx3-ubyte"),
    "t10k-labels": (TEST_LABELS, "idx1-ubyte"),
}


def idx(array: np.ndarray[Any, Any]) -> bytes:
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 8, array.ndim, *array.shape) + array.tobytes()


def write_idx(folder: Path, joint: str = "-", ending: str = "", compress: bool = False) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for stem, (array, kind) in IDX_FILES.items():
        content = idx(array)
        (folder / f"{stem}{joint}{kind}{ending}").write_bytes(gzip.compress(content) if compress else content)
    return folder


def write_npz(path: Path, **changes: object) -> Path:
    arrays: dict[str, Any] = {
        "x_train": TRAINING,
        "y_train": TRAINING_LABELS,
        "x_test": TEST,
        "y_test": TEST_LABELS,
    }
    np.savez_compressed(
        path, **{key: value for key, value in (arrays | changes).items() if value is not None}
    )
    return path


def load(path: Path, validation_samples: int = 10_000, normalise: str = "none") -> data.Dataset:
    wanted = DigitsData(
        training_samples=60_000,
        validation_samples=validation_samples,
        normalise="l2" if normalise == "l2" else "none",
        path=str(path),
    )
    return data.load(wanted, MODEL)


@pytest.mark.parametrize(
    "write",
    [
        lambda tmp: write_idx(tmp / "idx"),
        lambda tmp: write_idx(tmp / "idx", joint="."),
        lambda tmp: write_idx(tmp / "idx", ending=".gz", compress=True),
        lambda tmp: write_idx(tmp / "idx", joint=".", ending=".gz", compress=True),
        lambda tmp: write_idx(tmp / "idx", ending=".gz"),
        lambda tmp: write_idx(tmp / "idx" / "MNIST" / "raw").parents[1],
        lambda tmp: write_npz(tmp / "mnist.npz"),
        lambda tmp: write_npz(
            tmp / "flat.npz", x_train=TRAINING.reshape(30, 784), y_test=TEST_LABELS.astype(np.int64)
        ),
    ],
    ids=["idx", "dots", "gzipped", "dots-gzipped", "unpacked-gz", "torchvision", "npz", "flat-npz"],
)
def test_every_form_gives_the_same_digits(tmp_path: Path, write: Callable[[Path], Path]) -> None:
    path = write(tmp_path)

    dataset = load(path)

    assert dataset.description == f"MNIST from {path}: 30 + 20 images"
    assert not dataset.synthetic
    assert in_memory(dataset.training).inputs.dtype == torch.float32
    assert torch.allclose(
        in_memory(dataset.training).inputs,
        torch.from_numpy(TRAINING.reshape(30, 784).astype(np.float32) / 255),
    )
    assert in_memory(dataset.training).targets.dtype == torch.int64
    assert in_memory(dataset.training).targets.tolist() == TRAINING_LABELS.tolist()
    assert dataset.validation is not None
    assert in_memory(dataset.validation).inputs.shape == (20, 784)
    assert in_memory(dataset.validation).targets.tolist() == TEST_LABELS.tolist()


def test_l2_makes_every_image_of_length_one_and_leaves_a_blank_one_blank(tmp_path: Path) -> None:
    inputs = in_memory(load(write_idx(tmp_path), normalise="l2").training).inputs

    assert not inputs[0].any()
    assert torch.allclose(inputs[1:].norm(dim=1), torch.ones(29))


def test_without_validation_the_test_files_need_not_be_there(tmp_path: Path) -> None:
    write_idx(tmp_path)
    (tmp_path / "t10k-images-idx3-ubyte").unlink()

    dataset = load(tmp_path, validation_samples=0)

    assert dataset.validation is None
    assert dataset.description == f"MNIST from {tmp_path}: 30 images"


def complaint(path: Path) -> str:
    with pytest.raises(data.DataError) as caught:
        load(path)
    text = str(caught.value)
    assert "\n" not in text
    return text


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("train-images-idx3-ubyte", b"", "begins with nothing, allowed: 00000803"),
        ("train-images-idx3-ubyte", b"\x89PNG\r\n", "begins with 89504e47, allowed: 00000803"),
        ("train-images-idx3-ubyte", idx(TRAINING_LABELS), "begins with 00000801, allowed: 00000803"),
        ("train-labels-idx1-ubyte", idx(TRAINING), "begins with 00000803, allowed: 00000801"),
        ("train-images-idx3-ubyte", idx(TRAINING)[:7], "ends within its header, after 7 of 16 bytes"),
        ("train-images-idx3-ubyte", idx(TRAINING)[:-1], "holds 23,519 bytes of data, its header says 30 x 2"),
        ("t10k-labels-idx1-ubyte", idx(TEST_LABELS) + b"\0", "holds 21 bytes of data, its header says 20 ="),
        ("train-images-idx3-ubyte", idx(TRAINING[:, :, :27]), "shape (30, 28, 27), allowed: (samples, 28, 2"),
        ("train-labels-idx1-ubyte", idx(TRAINING_LABELS[:29]), "29 labels for 30 images in "),
        ("t10k-labels-idx1-ubyte", idx(TEST_LABELS + 1), "has the label 10, allowed: 0 to 9"),
        ("t10k-images-idx3-ubyte", gzip.compress(idx(TEST))[:-9], "not a whole gzip file: "),
        ("t10k-images-idx3-ubyte", b"\x1f\x8b\x09" + b"x" * 20, "not a whole gzip file: "),
    ],
)
def test_a_wrong_idx_file_is_named_with_what_is_wrong(
    tmp_path: Path, name: str, content: bytes, said: str
) -> None:
    write_idx(tmp_path)
    (tmp_path / name).write_bytes(content)

    assert complaint(tmp_path).startswith(f"{tmp_path / name}: {said}")


def test_images_and_labels_of_no_samples_are_an_error(tmp_path: Path) -> None:
    write_idx(tmp_path)
    (tmp_path / "train-images-idx3-ubyte").write_bytes(idx(TRAINING[:0]))
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(idx(TRAINING_LABELS[:0]))

    assert complaint(tmp_path) == f"{tmp_path / 'train-images-idx3-ubyte'}: holds no images"


def test_a_missing_idx_file_is_named_with_the_names_it_may_have(tmp_path: Path) -> None:
    write_idx(tmp_path)
    (tmp_path / "t10k-labels-idx1-ubyte").unlink()

    assert complaint(tmp_path) == (
        f"{tmp_path}: has no t10k-labels-idx1-ubyte (or t10k-labels.idx1-ubyte, t10k-labels-idx1-ubyte.gz, "
        "t10k-labels.idx1-ubyte.gz)"
    )


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"y_test": None}, "has no array y_test; it has x_train, y_train, x_test"),
        ({"x_train": TRAINING / 255}, "x_train: images of type float64, allowed: uint8"),
        ({"x_test": TEST[0]}, "x_test: shape (28, 28), allowed: (samples, 28, 28)"),
        ({"y_train": np.eye(10)[TRAINING_LABELS]}, "y_train: labels of type float64, allowed: whole numbers"),
        ({"y_train": TRAINING_LABELS[:, None]}, "y_train: shape (30, 1), allowed: (samples,)"),
        ({"y_train": TRAINING_LABELS.astype(np.int8) - 1}, "y_train: has the label -1, allowed: 0 to 9"),
        ({"y_train": TRAINING_LABELS[1:]}, "y_train: 29 labels for 30 images in "),
        ({"x_train": np.array([{}, None])}, "cannot be read as an .npz archive: Object arrays cannot be loa"),
    ],
)
def test_a_wrong_array_is_named_with_what_is_wrong(
    tmp_path: Path, changes: dict[str, object], said: str
) -> None:
    path = write_npz(tmp_path / "mnist.npz", **changes)

    assert complaint(path).startswith(f"{path}: {said}")


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("mnist.npz", b"", "cannot be read as an .npz archive: "),
        ("mnist.npz", b"PK\x03\x04 cut short", "cannot be read as an .npz archive: "),
        ("mnist.npz", b"no archive at all", "cannot be read as an .npz archive: "),
        ("mnist.zip", b"PK", "allowed: a folder of MNIST IDX files, or one file whose name ends in .npz"),
    ],
)
def test_a_file_of_another_kind(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)

    assert complaint(path).startswith(f"{path}: {said}")


def test_one_array_alone_is_no_archive(tmp_path: Path) -> None:
    path = tmp_path / "mnist.npz"
    with path.open("wb") as file:
        np.save(file, TRAINING)

    assert complaint(path) == f"{path}: holds one array, allowed: an .npz archive of several"


def test_a_path_to_nothing(tmp_path: Path) -> None:
    path = tmp_path / "nowhere"

    assert complaint(path) == f"{path}: there is no such file or folder"
