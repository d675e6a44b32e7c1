"""What a preset file may say: the typed form of its tables.

A family of models, a kind of data, a loss or an optimizer is added by adding its struct to the
union it belongs to; the code that builds it is found in the worker under the same name.
"""

from typing import Annotated, Literal

from msgspec import Meta, Struct

PositiveInt = Annotated[int, Meta(ge=1)]
NonNegativeInt = Annotated[int, Meta(ge=0)]
Fraction = Annotated[float, Meta(ge=0.0, lt=1.0)]
NonNegativeFloat = Annotated[float, Meta(ge=0.0)]
PositiveFloat = Annotated[float, Meta(gt=0.0)]
Name = Annotated[str, Meta(min_length=1, max_length=60, pattern=r"^[\w.+-]+$")]


class Table(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table of a preset file: an unknown key is an error, not a silent default."""


# ---------------------------------------------------------------------------- model


class MlpSize(Table, frozen=True, kw_only=True):
    """One rung of an MLP's size ladder."""

    name: Name
    hidden: Annotated[list[PositiveInt], Meta(min_length=1)]
    """Units of each hidden layer, in order."""
    parameters: PositiveInt | None = None
    """Weights and biases, as the origin states them; checked against the built model by a test."""


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


Model = MlpModel
Size = MlpSize

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


Data = TeacherData | DigitsData

# ------------------------------------------------------------------ loss, optimizer


class MseLoss(Table, frozen=True, kw_only=True, tag_field="kind", tag="mse"):
    """Mean squared error over all outputs of all samples."""


class CrossEntropyLoss(Table, frozen=True, kw_only=True, tag_field="kind", tag="cross_entropy"):
    """Softmax cross-entropy of class scores against integer labels, averaged over samples."""


Loss = MseLoss | CrossEntropyLoss


class SgdOptimizer(Table, frozen=True, kw_only=True, tag_field="kind", tag="sgd"):
    """Stochastic gradient descent, `torch.optim.SGD`."""

    lr: PositiveFloat
    momentum: Fraction = 0.0
    nesterov: bool = False
    weight_decay: NonNegativeFloat = 0.0


class AdamOptimizer(Table, frozen=True, kw_only=True, tag_field="kind", tag="adam"):
    """Adam, `torch.optim.Adam`."""

    lr: PositiveFloat = 0.001
    betas: tuple[Fraction, Fraction] = (0.9, 0.999)
    eps: PositiveFloat = 1e-8


class NadamOptimizer(Table, frozen=True, kw_only=True, tag_field="kind", tag="nadam"):
    """Adam with Nesterov momentum, `torch.optim.NAdam`."""

    lr: PositiveFloat = 0.002
    betas: tuple[Fraction, Fraction] = (0.9, 0.999)
    eps: PositiveFloat = 1e-8
    momentum_decay: NonNegativeFloat = 0.004


Optimizer = SgdOptimizer | AdamOptimizer | NadamOptimizer

# --------------------------------------------------------------------------- preset


class Published(Table, frozen=True, kw_only=True):
    """One published figure for this workload, to show beside what is measured."""

    hardware: str
    framework: str
    batch_size: PositiveInt
    passes: Literal["training", "forward"]
    value: PositiveFloat
    unit: str
    source: str


class Preset(Table, frozen=True, kw_only=True):
    """A named workload."""

    name: Name
    title: str
    """One line: what it is."""
    origin: str
    """Where it comes from and what was seen there, in a sentence or two."""
    batch_size: PositiveInt
    epochs: PositiveInt | None = None
    """Epochs the origin trained for; shown, never enforced."""
    drop_last: bool = False
    """Whether the incomplete batch at an epoch's end is skipped."""
    model: Model
    data: Data
    loss: Loss
    optimizer: Optimizer
    published: list[Published] = []

    def size(self, name: str) -> Size:
        """The rung of the size ladder called `name`; KeyError where there is none."""
        for size in self.model.sizes:
            if size.name == name:
                return size
        raise KeyError(name)

    @property
    def size_names(self) -> list[str]:
        """The size ladder, smallest first, as the file lists it."""
        return [size.name for size in self.model.sizes]
