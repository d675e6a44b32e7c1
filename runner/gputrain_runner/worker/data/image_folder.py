"""A user's folder of images with a subfolder for each class; a file is read when its sample is taken."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from gputrain_presets.spec import ImagesData

from .dataset import DataError, Dataset

ENDINGS = (".jpg", ".jpeg", ".png", ".bmp", ".gif", ".webp", ".tif", ".tiff", ".ppm", ".pgm")
VALIDATION = ("val", "valid", "validation", "test")
"""Names of the folder beside `train`, the first that is there."""
HELD_OUT = 0.2
"""The largest share of a folder without a validation folder that is kept for validation."""
KEPT = 0.875
"""The share of the shorter side that is kept: 224 pixels of 256, as is usual."""
MEAN = {1: (0.449,), 3: (0.485, 0.456, 0.406)}
DEVIATION = {1: (0.226,), 3: (0.229, 0.224, 0.225)}
"""Over ImageNet's training images, of values from 0 to 1, by channels."""


@dataclass(frozen=True, slots=True)
class FolderSplit:
    """Images in files, and their labels.

    Attributes:
        files: their paths.
        labels: (samples,) int64.
        side: pixels along each side of an image, once scaled and cropped.
        channels: 3 for colour, 1 for grey.
    """

    files: Sequence[str]
    labels: Tensor
    side: int
    channels: int

    def __len__(self) -> int:
        return len(self.files)

    def __getitem__(self, index: int) -> tuple[Tensor, Tensor]:
        """One image (channels, side, side) float32 and its label; DataError names a file that is broken."""
        return _read(self.files[index], self.side, self.channels), self.labels[index]

    def gather(
        self, chosen: Tensor | slice, into: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """The chosen images (chosen, channels, side, side) and their labels, in that order."""
        labels = self.labels[chosen] if into is None else into[1].copy_(self.labels[chosen])
        indices = range(len(self))[chosen] if isinstance(chosen, slice) else chosen.tolist()
        size = len(labels), self.channels, self.side, self.side
        images = torch.empty(size) if into is None else into[0]
        for row, index in enumerate(indices):
            images[row] = _read(self.files[index], self.side, self.channels)
        return images, labels


def load(data: ImagesData, path: Path, classes: int | None) -> Dataset:
    """The images under `path`, of at most `classes` classes.

    DataError where Pillow is missing, or where the folder is not one of images by classes.
    """
    if importlib.util.find_spec("PIL") is None:
        wanted = "pip install 'gputrain-tui[images]'"
        raise DataError(f"{path}: reading images needs Pillow, which is not installed: {wanted}")
    training_path, validation_path = _split_folders(path)
    names = _subfolders(training_path)
    if not names:
        raise DataError(f"{training_path}: has no subfolders; a folder of images has one for each class")
    if classes is not None and len(names) > classes:
        raise DataError(
            f"{training_path}: has {len(names):,} subfolders, more than model.classes, {classes:,}"
        )
    files, labels = _listed(training_path, names)
    training = FolderSplit(files, labels, data.side, data.channels)
    validation = None
    if data.validation_samples and validation_path is not None:
        files, labels = _listed(validation_path, names)
        validation = FolderSplit(files, labels, data.side, data.channels)
    elif data.validation_samples:
        training, validation = _hold_out(training, data)
    counts = f"{len(training):,}" + (f" + {len(validation):,}" if validation else "")
    what = f"{counts} in {len(names):,} classes, scaled to {data.side} x {data.side}"
    return Dataset(training, validation, description=f"images from {path}: {what}", synthetic=False)


def _split_folders(path: Path) -> tuple[Path, Path | None]:
    """The folder of training images and that of validation images, where there is one."""
    if not path.is_dir():
        raise DataError(f"{path}: {'is not a folder' if path.exists() else 'there is no such folder'}")
    training = path / "train"
    if not training.is_dir() or not _subfolders(training):
        return path, None
    return training, next((path / name for name in VALIDATION if (path / name).is_dir()), None)


def _subfolders(path: Path) -> list[str]:
    try:
        with os.scandir(path) as entries:
            return sorted(entry.name for entry in entries if entry.is_dir() and entry.name[0] != ".")
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None


def _listed(path: Path, names: list[str]) -> tuple[list[str], Tensor]:
    """The image files of each class, and their labels: the place of the class in `names`."""
    strange = [name for name in _subfolders(path) if name not in set(names)]
    if strange:
        raise DataError(f"{path / strange[0]}: is no class of the training images")
    files: list[str] = []
    labels: list[int] = []
    for label, name in enumerate(names):
        found = [
            os.path.join(folder, file)  # noqa: PTH118 - a million paths are made faster as text.
            for folder, _, inside in os.walk(path / name, followlinks=True)
            for file in inside
            if file.lower().endswith(ENDINGS) and file[0] != "."
        ]
        files += sorted(found)
        labels += [label] * len(found)
    if not files:
        raise DataError(f"{path}: holds no image in its subfolders; known are {' '.join(ENDINGS)}")
    return files, torch.tensor(labels)


def _hold_out(split: FolderSplit, data: ImagesData) -> tuple[FolderSplit, FolderSplit | None]:
    """The split without some samples picked by the seed, and these."""
    held = min(data.validation_samples, int(len(split) * HELD_OUT))
    if not held:
        return split, None
    order = torch.randperm(len(split), generator=torch.Generator().manual_seed(data.seed))
    kept, held_out = (
        FolderSplit(
            [split.files[at] for at in places.tolist()], split.labels[places], split.side, split.channels
        )
        for places in (order[held:].sort().values, order[:held].sort().values)
    )
    return kept, held_out


def _read(file: str, side: int, channels: int) -> Tensor:
    """An image (channels, side, side): its middle square, scaled and normalised."""
    from PIL import Image  # Here, since few need it and it is no requirement.

    try:
        with Image.open(file) as opened:
            image = opened.convert("RGB" if channels == 3 else "L")
            cut = min(image.size) * KEPT
            left, top = (image.width - cut) / 2, (image.height - cut) / 2
            box = (left, top, left + cut, top + cut)
            scaled = image.resize((side, side), Image.Resampling.BILINEAR, box=box)
    except MemoryError:
        raise
    except Exception as error:  # Decoders of broken files raise whatever they stumble on.
        reason = "not an image" if "cannot identify" in str(error) else str(error) or type(error).__name__
        raise DataError(f"{file}: cannot be read as an image: {' '.join(reason.split())}") from None
    pixels = torch.from_numpy(np.array(scaled, dtype=np.float32)).view(side, side, channels)
    mean, deviation = torch.tensor(MEAN[channels]) * 255, torch.tensor(DEVIATION[channels]) * 255
    return pixels.sub_(mean).div_(deviation).permute(2, 0, 1).contiguous()
