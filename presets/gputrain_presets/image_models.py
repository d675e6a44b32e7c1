"""The image classifiers a preset file may name: images (batch, 3, side, side) to scores (batch, classes)."""

from typing import Annotated, Literal

from msgspec import Meta

from .tables import Fraction, Name, PositiveInt, Rung, Table

Sizes = Meta(min_length=1)
Width = Annotated[float, Meta(gt=0.0, le=16.0)]


class WidthSize(Rung, frozen=True, kw_only=True):
    """A rung where every layer but the last has its channels or units multiplied, halves rounded up."""

    width: Width


class VggSize(Rung, frozen=True, kw_only=True):
    """A rung that is one of the paper's configurations A, B, D and E, named by its weight layers."""

    depth: Literal[11, 13, 16, 19]


class ResnetSize(Rung, frozen=True, kw_only=True):
    """A rung that is one of the paper's depths: basic blocks up to 34 layers, bottlenecks from 50."""

    depth: Literal[18, 34, 50, 101, 152]


class AlexnetModel(Table, frozen=True, kw_only=True, tag_field="family", tag="alexnet"):
    """AlexNet with one tower, of "One weird trick for parallelizing convolutional neural networks"."""

    classes: PositiveInt = 1000
    image_side: Annotated[int, Meta(ge=63, le=4096)] = 224
    dropout: Fraction = 0.5
    """Probability of zeroing an input of each hidden fully connected layer."""
    default_size: Name
    sizes: Annotated[list[WidthSize], Sizes]


class OverfeatModel(Table, frozen=True, kw_only=True, tag_field="family", tag="overfeat"):
    """OverFeat, the paper's fast model."""

    classes: PositiveInt = 1000
    image_side: Annotated[int, Meta(ge=71, le=4096)] = 231
    dropout: Fraction = 0.5
    """Probability of zeroing an input of each hidden fully connected layer."""
    default_size: Name
    sizes: Annotated[list[WidthSize], Sizes]


class VggModel(Table, frozen=True, kw_only=True, tag_field="family", tag="vgg"):
    """VGG: 3 x 3 convolutions alone, then three fully connected layers."""

    classes: PositiveInt = 1000
    image_side: Annotated[int, Meta(ge=32, le=4096)] = 224
    dropout: Fraction = 0.5
    """Probability of zeroing an output of each hidden fully connected layer."""
    default_size: Name
    sizes: Annotated[list[VggSize], Sizes]


class GooglenetModel(Table, frozen=True, kw_only=True, tag_field="family", tag="googlenet"):
    """GoogLeNet (Inception v1) with its 5 x 5 convolutions; no normalisation, no auxiliary heads."""

    classes: PositiveInt = 1000
    image_side: Annotated[int, Meta(ge=32, le=4096)] = 224
    dropout: Fraction = 0.4
    """Probability of zeroing an input of the last layer."""
    default_size: Name
    sizes: Annotated[list[WidthSize], Sizes]


class ResnetModel(Table, frozen=True, kw_only=True, tag_field="family", tag="resnet"):
    """ResNet v1.5: a bottleneck halves the image in its 3 x 3 convolution, not in its first 1 x 1."""

    classes: PositiveInt = 1000
    image_side: Annotated[int, Meta(ge=32, le=4096)] = 224
    default_size: Name
    sizes: Annotated[list[ResnetSize], Sizes]


ImageModel = AlexnetModel | OverfeatModel | VggModel | GooglenetModel | ResnetModel
