"""A user's folder of images: which files are taken, what is made of them, and what is wrong in words."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import pytest
import torch
from msgspec import structs
from torch.utils.data import DataLoader

import gputrain_presets
from gputrain_presets.image_models import ImageModel
from gputrain_presets.spec import ImagesData
from gputrain_runner import settings
from gputrain_runner.worker import data
from gputrain_runner.worker.data import AnySplit, DataError
from gputrain_runner.worker.trainer import Trainer
from gputrain_runner.worker.validation import ValidationPass
from training import losses_of

Image = pytest.importorskip("PIL.Image", reason="Pillow is not installed")

SIDE = 32
PRESET = gputrain_presets.load("resnet")
MEAN = torch.tensor([0.485, 0.456, 0.406])
DEVIATION = torch.tensor([0.229, 0.224, 0.225])


def load(path: Path, validation: int = 0, **changes: Any) -> data.Dataset:
    wanted = ImagesData(training_samples=1, validation_samples=validation, side=SIDE, path=str(path))
    return data.load(structs.replace(wanted, **changes), PRESET.model)


def paint(
    file: Path, colour: object = (255, 0, 0), size: tuple[int, int] = (48, 40), mode: str = "RGB"
) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    Image.new(mode, size, colour).save(file)


def colour_of(split: AnySplit, index: int) -> list[int]:
    """The colour of an image of one colour, from 0 to 255."""
    image, _ = split[index]
    assert torch.allclose(image, image[:, :1, :1], atol=0.05)
    return ((image[:, 0, 0] * DEVIATION + MEAN) * 255).round().int().tolist()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Three classes of 8 images."""
    colours = {"cherry": (255, 0, 0), "grass": (0, 255, 0), "sky": (0, 0, 255)}
    for name, colour in colours.items():
        for index in range(8):
            paint(tmp_path / "photographs" / name / f"{index}.png", colour)
    return tmp_path / "photographs"


def test_each_subfolder_is_a_class(folder: Path) -> None:
    dataset = load(folder)

    split = dataset.training
    assert len(split) == 24
    assert [int(split[index][1]) for index in (0, 7, 8, 23)] == [0, 0, 1, 2]
    assert [colour_of(split, index) for index in (0, 8, 16)] == [[255, 0, 0], [0, 255, 0], [0, 0, 255]]
    assert dataset.description == f"images from {folder}: 24 in 3 classes, scaled to 32 x 32"
    assert not dataset.synthetic
    assert dataset.validation is None


def test_samples_are_gathered_in_the_order_asked_for(folder: Path) -> None:
    split = load(folder).training

    inputs, labels = split.gather(torch.tensor([20, 0, 9]))
    last, of_last = split.gather(slice(22, 99))

    assert (inputs.shape, inputs.dtype) == ((3, 3, SIDE, SIDE), torch.float32)
    assert labels.tolist() == [2, 0, 1]
    assert torch.equal(inputs[1], split[0][0])
    assert last.shape == (2, 3, SIDE, SIDE)
    assert of_last.tolist() == [2, 2]


def test_a_data_loader_with_a_worker_process_reads_the_same(folder: Path) -> None:
    split = load(folder).training
    loader: DataLoader[Any] = DataLoader(split, batch_size=10, num_workers=1)  # type: ignore[arg-type]

    batches = list(loader)

    assert torch.equal(torch.cat([inputs for inputs, _ in batches]), split.gather(slice(None))[0])
    assert torch.cat([labels for _, labels in batches]).tolist() == [0] * 8 + [1] * 8 + [2] * 8


def test_the_middle_square_is_kept(tmp_path: Path) -> None:
    picture = Image.new("RGB", (200, 100), (0, 0, 255))
    picture.paste((255, 0, 0), (53, 3, 147, 97))  # 87.5 are kept, and 3 seen beside.
    (tmp_path / "class").mkdir()
    picture.save(tmp_path / "class" / "wide.png")

    assert colour_of(load(tmp_path).training, 0) == [255, 0, 0]


@pytest.mark.parametrize("size", [(7, 5), (32, 32), (30, 400)])
def test_images_of_any_size_are_scaled(tmp_path: Path, size: tuple[int, int]) -> None:
    paint(tmp_path / "class" / "a.png", (10, 200, 30), size)

    assert colour_of(load(tmp_path).training, 0) == [10, 200, 30]


@pytest.mark.parametrize(
    ("name", "mode", "colour", "seen"),
    [
        ("a.PNG", "L", 90, [90, 90, 90]),
        ("a.png", "RGBA", (1, 2, 3, 128), [1, 2, 3]),
        ("a.gif", "P", 0, [0, 0, 0]),
        ("a.jpg", "L", 200, [200, 200, 200]),
        ("a.jpeg", "CMYK", (0, 0, 0, 0), [255, 255, 255]),
        ("a.bmp", "1", 1, [255, 255, 255]),
        ("a.webp", "RGB", (0, 0, 0), [0, 0, 0]),
    ],
)
def test_every_usual_kind_of_file_is_read(
    tmp_path: Path, name: str, mode: str, colour: object, seen: list[int]
) -> None:
    paint(tmp_path / "class" / name, colour, mode=mode)

    assert colour_of(load(tmp_path).training, 0) == pytest.approx(seen, abs=2)


def test_grey_images_have_one_channel(tmp_path: Path) -> None:
    paint(tmp_path / "class" / "a.png", (255, 255, 255))

    image, _ = load(tmp_path, channels=1).training[0]

    assert image.shape == (1, SIDE, SIDE)
    assert image.mean().item() == pytest.approx((1 - 0.449) / 0.226, rel=1e-4)


def test_folders_inside_a_class_count_and_hidden_and_other_files_do_not(folder: Path) -> None:
    paint(folder / "sky" / "2019" / "may" / "x.png")
    paint(folder / ".cache" / "x.png")
    paint(folder / "sky" / ".x.png")
    (folder / "sky" / "notes.txt").write_text("blue")
    (folder / "README.md").write_text("photographs")

    dataset = load(folder)

    assert len(dataset.training) == 25
    assert "in 3 classes" in dataset.description


@pytest.mark.parametrize("name", ["val", "validation", "test"])
def test_folders_for_training_and_validation_are_taken_as_such(tmp_path: Path, name: str) -> None:
    for label, colour in (("a", (255, 0, 0)), ("b", (0, 255, 0))):
        paint(tmp_path / "train" / label / "1.png", colour)
        paint(tmp_path / "train" / label / "2.png", colour)
    paint(tmp_path / name / "b" / "3.png", (0, 255, 0))

    dataset = load(tmp_path, validation=1)

    assert len(dataset.training) == 4
    assert dataset.validation is not None
    assert len(dataset.validation) == 1
    assert int(dataset.validation[0][1]) == 1
    assert load(tmp_path).validation is None


def test_without_a_validation_folder_some_images_are_held_out(folder: Path) -> None:
    dataset, again = load(folder, validation=1000), load(folder, validation=1000)

    assert dataset.validation is not None
    assert again.validation is not None
    assert (len(dataset.training), len(dataset.validation)) == (20, 4)
    assert dataset.validation.files == again.validation.files  # type: ignore[attr-defined]
    both = [*dataset.training.files, *dataset.validation.files]  # type: ignore[attr-defined]
    assert len(set(both)) == 24
    for split in (dataset.training, dataset.validation):
        for index in range(len(split)):
            assert max(colour_of(split, index)) == colour_of(split, index)[int(split[index][1])]
    fewer = load(folder, validation=2).validation
    assert fewer is not None
    assert len(fewer) == 2


def test_a_preset_trains_and_validates_on_a_folder(folder: Path) -> None:
    torch.set_num_threads(1)
    torch.manual_seed(0)
    assert isinstance(PRESET.model, ImageModel)
    model = structs.replace(PRESET.model, image_side=SIDE, default_size="18")
    wanted = ImagesData(training_samples=1, validation_samples=4, side=SIDE, path=str(folder))
    preset = structs.replace(PRESET, model=model, data=wanted, batch_size=8)
    dataset = data.load(wanted, model)
    of = Trainer(preset, dataset, settings.initial(preset, "cpu"), seed=0)

    found = losses_of(of, 12)

    assert sum(found[-3:]) / 3 < 0.5 * found[0]
    assert dataset.validation is not None
    result = ValidationPass(dataset.validation, epoch=1).advance(of)
    assert result is not None
    assert result.samples == 4
    assert result.loss is not None


def broken(folder: Path) -> Path:
    file = folder / "cherry" / "0.png"
    file.write_bytes(file.read_bytes()[:60])
    return file


def test_a_broken_file_is_named_when_it_is_read(folder: Path) -> None:
    file = broken(folder)
    split = load(folder).training

    with pytest.raises(DataError) as raised:
        split.gather(torch.tensor([3, 0]))

    assert str(raised.value).startswith(f"{file}: cannot be read as an image: ")
    assert "\n" not in str(raised.value)


def test_a_file_that_is_no_image_is_named(folder: Path) -> None:
    (folder / "cherry" / "0.png").write_text("not an image at all")

    with pytest.raises(DataError, match=r"0\.png: cannot be read as an image: not an image$"):
        load(folder).training[0]


def test_a_file_that_is_gone_is_named(folder: Path) -> None:
    split = load(folder).training
    (folder / "cherry" / "0.png").unlink()

    with pytest.raises(DataError, match=r"0\.png: cannot be read as an image: .*No such file"):
        split.gather(slice(0, 1))


def said_of(path: Path, **changes: Any) -> str:
    with pytest.raises(DataError) as raised:
        load(path, **changes)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_a_folder_that_cannot_be_used_is_said_in_one_line(tmp_path: Path) -> None:
    file = tmp_path / "file.png"
    paint(file)
    empty = tmp_path / "empty"
    (empty / "class").mkdir(parents=True)

    assert said_of(tmp_path / "none") == f"{tmp_path / 'none'}: there is no such folder"
    assert said_of(file) == f"{file}: is not a folder"
    assert said_of(empty / "class").startswith(
        f"{empty / 'class'}: has no subfolders; a folder of images has"
    )
    assert said_of(empty).startswith(f"{empty}: holds no image in its subfolders; known are .jpg")


def test_a_class_that_only_the_validation_images_have_is_named(tmp_path: Path) -> None:
    paint(tmp_path / "train" / "a" / "1.png")
    paint(tmp_path / "val" / "b" / "1.png")

    strange = tmp_path / "val" / "b"
    assert said_of(tmp_path, validation=1) == f"{strange}: is no class of the training images"


def test_more_classes_than_the_model_has_are_refused(folder: Path) -> None:
    assert isinstance(PRESET.model, ImageModel)
    two = structs.replace(PRESET.model, classes=2)
    wanted = ImagesData(training_samples=1, validation_samples=0, side=SIDE, path=str(folder))

    with pytest.raises(DataError, match=r"has 3 subfolders, more than model\.classes, 2"):
        data.load(wanted, two)


def test_without_pillow_the_way_to_it_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)

    assert said_of(folder).endswith(
        "needs Pillow, which is not installed: pip install 'gputrain-tui[images]'"
    )
