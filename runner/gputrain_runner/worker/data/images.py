"""Images with labels: a user's folder of them, decoded as they are taken, or a bounded synthetic pool."""

from __future__ import annotations

from pathlib import Path

from gputrain_presets.image_models import ImageModel
from gputrain_presets.spec import ImagesData, Model

from . import image_folder, textures
from .dataset import Dataset


def load(data: ImagesData, model: Model) -> Dataset:
    """Inputs (samples, channels, side, side) float32, normalised as is usual for photographs; labels int64.

    A folder brings its own numbers of samples and classes; the preset's are those of the synthetic
    pool. Without validation samples in the preset there is no validation split. DataError says which
    folder or file is wrong.
    """
    if data.path is None:
        return _synthetic(data)
    classes = model.classes if isinstance(model, ImageModel) else None
    return image_folder.load(data, Path(data.path).expanduser(), classes)


def _synthetic(data: ImagesData) -> Dataset:
    of = textures.of_classes(data.classes, data.channels, data.seed)
    validation = data.validation_samples
    return Dataset(
        training=textures.draw(data.training_samples, of, data.side, data.seed, stream=1),
        validation=textures.draw(validation, of, data.side, data.seed, stream=2) if validation else None,
        description=(
            f"synthetic: {data.training_samples:,} images of {data.side} x {data.side}, "
            f"{data.classes} classes of coloured stripes under noise"
        ),
        synthetic=True,
    )
