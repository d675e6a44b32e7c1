"""What a preset file may say: the typed form of its tables.

A family of models, a kind of data, a loss or an optimizer is added by adding its struct to the
union it belongs to; the code that builds it is found in the worker under the same name.
"""

import re
from itertools import pairwise
from typing import Annotated, Literal

from msgspec import Meta

from .image_models import ImageModel
from .learning_rates import LearningRates
from .tables import Fraction, Name, NonNegativeFloat, NonNegativeInt, PositiveFloat, PositiveInt, Rung, Table
from .text_models import HierBiLstmModel
from .user_data import FilesData, RandomData
from .user_models import IDENTIFIER, UserModel

# ---------------------------------------------------------------------------- model


class MlpSize(Rung, frozen=True, kw_only=True):
    """A rung of an MLP's size ladder."""

    hidden: Annotated[list[PositiveInt], Meta(min_length=1)]
    """Units of each hidden layer, in order."""


class AnyMlpSize(Table, frozen=True, kw_only=True):
    """Sizes beside the ladder: so many hidden layers, each of so many units, as their name says.

    `3x80` is three layers of 80 units, `40-113-76` names the units layer by layer.
    """

    depth: tuple[PositiveInt, PositiveInt]
    """The fewest and the most hidden layers."""
    width: tuple[PositiveInt, PositiveInt]
    """The fewest and the most units of each."""

    def hidden(self, name: str) -> list[int] | None:
        """The units of each hidden layer that a name means; None where it is none or out of bounds."""
        if found := re.fullmatch(r"([1-9][0-9]{0,5})x([1-9][0-9]{0,5})", name):
            depth, width = int(found[1]), int(found[2])
            units = [width] * min(depth, self.depth[1] + 1)
        elif re.fullmatch(r"[1-9][0-9]{0,5}(-[1-9][0-9]{0,5})+", name):
            units = [int(number) for number in name.split("-")]
        else:
            return None
        fits = self.depth[0] <= len(units) <= self.depth[1]
        return units if fits and all(self.width[0] <= one <= self.width[1] for one in units) else None

    @property
    def words(self) -> str:
        """What such a name looks like, for people."""
        (least, most), (narrow, wide) = self.depth, self.width
        text = f"DEPTHxWIDTH from {least}x{narrow} to {most}x{wide}"
        layers = [narrow, wide] * most
        example = "-".join(str(units) for units in layers[: max(2, least)])
        return text if most == 1 else f"{text}, or the units layer by layer as in {example}"


class MlpModel(Table, frozen=True, kw_only=True, tag_field="family", tag="mlp"):
    """A multi-layer perceptron: Linear, activation and dropout for each hidden layer, then Linear."""

    inputs: PositiveInt
    outputs: PositiveInt
    activation: Literal["relu", "elu", "tanh", "sigmoid", "gelu"]
    output_activation: Literal["none", "tanh", "sigmoid"] = "none"
    dropout: Fraction = 0.0
    """Probability of zeroing a unit after each hidden layer."""
    initialisation: Literal["glorot_uniform", "he_normal", "pytorch"] = "pytorch"
    default_size: Name
    sizes: Annotated[list[MlpSize], Meta(min_length=1)]
    any_size: AnyMlpSize | None = None
    """What sizes there are beside the ladder; none: the ladder alone."""

    def hidden(self, size: str) -> list[int]:
        """Units of each hidden layer of a size, on the ladder or beside it; KeyError where there is none."""
        for rung in self.sizes:
            if rung.name == size:
                return rung.hidden
        units = None if self.any_size is None else self.any_size.hidden(size)
        if units is None:
            raise KeyError(size)
        return units

    def parameters(self, size: str) -> int:
        """Weights and biases of a size; KeyError where there is none."""
        widths = [self.inputs, *self.hidden(size), self.outputs]
        return sum((taken + 1) * given for taken, given in pairwise(widths))


Model = MlpModel | ImageModel | HierBiLstmModel | UserModel

# ----------------------------------------------------------------------------- data


class TeacherData(Table, frozen=True, kw_only=True, tag_field="kind", tag="teacher"):
    """Synthetic regression: standard-normal inputs through a fixed random network, plus noise."""

    training_samples: PositiveInt
    validation_samples: NonNegativeInt
    noise: NonNegativeFloat = 0.05
    """Standard deviation of the normal noise added to the teacher's outputs."""
    seed: NonNegativeInt = 0


class DigitsData(Table, frozen=True, kw_only=True, tag_field="kind", tag="digits"):
    """28 x 28 digit images with labels 0-9: real MNIST files, or a synthetic stand-in."""

    training_samples: PositiveInt
    validation_samples: NonNegativeInt
    normalise: Literal["l2", "none"] = "none"
    """`l2`: the 784 inputs of each sample are divided by their Euclidean norm."""
    path: str | None = None
    """A folder of MNIST IDX files (optionally gzipped) or an `.npz` file; none: synthetic."""
    seed: NonNegativeInt = 0


class ImagesData(Table, frozen=True, kw_only=True, tag_field="kind", tag="images"):
    """Images with labels: a user's folder of them, or a bounded pool of synthetic ones."""

    training_samples: PositiveInt
    validation_samples: NonNegativeInt
    side: Annotated[int, Meta(ge=1, le=4096)] = 224
    """Pixels along each side of an image, as the model takes it."""
    channels: Literal[1, 3] = 3
    """3: colour, 1: grey."""
    classes: PositiveInt = 8
    """Classes that occur in the synthetic pool; in a folder each subfolder is one."""
    path: str | None = None
    """A folder with a subfolder of images for each class, or with `train` and `val` of that form."""
    seed: NonNegativeInt = 0


class TextData(Table, frozen=True, kw_only=True, tag_field="kind", tag="text"):
    """Synthetic documents: frequent words, and in most sentences a few that hint at a class."""

    training_samples: PositiveInt
    validation_samples: NonNegativeInt
    shortest_document: PositiveInt = 2
    """Sentences; the model's `longest_document` is the most."""
    shortest_sentence: PositiveInt = 3
    """Words; the model's `longest_sentence` is the most."""
    seed: NonNegativeInt = 0


Data = TeacherData | DigitsData | ImagesData | TextData | RandomData | FilesData

# ------------------------------------------------------------------ loss, optimizer

TorchName = Annotated[str, Meta(max_length=100, pattern=IDENTIFIER)]
Argument = bool | int | float | str | list[bool | int | float]
"""A value that PyTorch is called with; an array becomes a tuple, for a loss's weights a tensor."""


class MseLoss(Table, frozen=True, kw_only=True, tag_field="kind", tag="mse"):
    """Mean squared error over all outputs of all samples."""


class CrossEntropyLoss(Table, frozen=True, kw_only=True, tag_field="kind", tag="cross_entropy"):
    """Softmax cross-entropy of class scores against integer labels, averaged over samples."""


class TorchLoss(Table, frozen=True, kw_only=True, tag_field="kind", tag="torch"):
    """A loss of `torch.nn` by its name there."""

    name: TorchName
    arguments: dict[str, Argument] = {}  # noqa: RUF012


Loss = MseLoss | CrossEntropyLoss | TorchLoss


class SgdOptimizer(Table, frozen=True, kw_only=True, tag_field="kind", tag="sgd"):
    """Stochastic gradient descent, `torch.optim.SGD`."""

    lr: PositiveFloat
    momentum: Fraction = 0.0
    nesterov: bool = False
    weight_decay: NonNegativeFloat = 0.0
    learning_rates: LearningRates | None = None


class AdamOptimizer(Table, frozen=True, kw_only=True, tag_field="kind", tag="adam"):
    """Adam, `torch.optim.Adam`."""

    lr: PositiveFloat = 0.001
    betas: tuple[Fraction, Fraction] = (0.9, 0.999)
    eps: PositiveFloat = 1e-8
    learning_rates: LearningRates | None = None


class NadamOptimizer(Table, frozen=True, kw_only=True, tag_field="kind", tag="nadam"):
    """Adam with Nesterov momentum, `torch.optim.NAdam`."""

    lr: PositiveFloat = 0.002
    betas: tuple[Fraction, Fraction] = (0.9, 0.999)
    eps: PositiveFloat = 1e-8
    momentum_decay: NonNegativeFloat = 0.004
    learning_rates: LearningRates | None = None


class TorchOptimizer(Table, frozen=True, kw_only=True, tag_field="kind", tag="torch"):
    """An optimizer of `torch.optim` by its name there."""

    name: TorchName
    lr: PositiveFloat | None = None
    """The learning rate; PyTorch's default for this optimizer, if not given."""
    arguments: dict[str, Argument] = {}  # noqa: RUF012
    learning_rates: LearningRates | None = None


Optimizer = SgdOptimizer | AdamOptimizer | NadamOptimizer | TorchOptimizer

# --------------------------------------------------------------------------- preset


class Published(Table, frozen=True, kw_only=True):
    """One published figure for this workload, to show beside what is measured."""

    hardware: str
    framework: str
    size: Name | None = None
    """The rung of the size ladder that was measured; none: the default one."""
    batch_size: PositiveInt
    passes: Literal["training", "forward"]
    value: PositiveFloat
    unit: str
    """`ms` for a batch, `images/s`, or in words."""
    source: str


class Preset(Table, frozen=True, kw_only=True):
    """A named workload."""

    name: Name
    title: str
    """One line: what it is."""
    origin: str = ""
    """Where it comes from and what was seen there, in a sentence or two."""
    read_from: str | None = None
    """The file that it was read from, as the user named it; None: built in. Not a key of the file."""
    batch_size: PositiveInt
    epochs: PositiveInt | None = None
    """Epochs the origin trained for; shown, never enforced."""
    drop_last: bool = False
    """Whether the incomplete batch at an epoch's end is skipped."""
    model: Model
    data: Data
    loss: Loss
    optimizer: Optimizer
    published: list[Published] = []  # noqa: RUF012 - msgspec copies it
    aliases: dict[Name, Name] = {}  # noqa: RUF012
    """Other names of the preset, each with the size it starts with in place of the default one."""

    def size(self, name: str) -> Rung:
        """The size called `name`, on the ladder or beside it; KeyError where there is none."""
        for size in self.model.sizes:
            if size.name == name:
                return size
        if isinstance(self.model, MlpModel):
            return MlpSize(name=name, hidden=self.model.hidden(name))
        raise KeyError(name)

    def has_size(self, name: str) -> bool:
        """Whether there is a size of that name, on the ladder or beside it."""
        try:
            self.size(name)
        except KeyError:
            return False
        return True

    @property
    def size_names(self) -> list[str]:
        """The size ladder, smallest first, as the file lists it."""
        return [size.name for size in self.model.sizes]

    @property
    def other_sizes(self) -> str | None:
        """What sizes there are beside the ladder, in words; None where there are none."""
        any_size = self.model.any_size if isinstance(self.model, MlpModel) else None
        return None if any_size is None else any_size.words

    def ladder_with(self, name: str) -> list[str]:
        """The size ladder, and on it, by its parameters, a size beside it; KeyError where there is none."""
        ladder = self.size_names
        if name in ladder:
            return ladder
        self.size(name)
        assert isinstance(self.model, MlpModel)
        own, of = self.model.parameters(name), self.model.parameters
        place = sum(of(rung) <= own for rung in ladder)
        return [*ladder[:place], name, *ladder[place:]]
