"""A user's own model, loss or optimizer that is wrong: one line, by its key and the line of their code."""

from __future__ import annotations

from pathlib import Path

import pytest

from gputrain_runner.protocol import Finished
from user_presets import MODEL, write
from user_training import complaint, edited, train, users_modules  # noqa: F401 - a fixture


@pytest.mark.parametrize(
    ("model", "said"),
    [
        (edited("def make(size):", "def make(size:"), "model.file: my_model.py:16: SyntaxError: "),
        (
            "import nosuch\n" + MODEL,
            "model.file: my_model.py:1: ModuleNotFoundError: No module named 'nosuch'",
        ),
        (MODEL + "\nimport sys\nsys.exit(0)\n", "model.file: my_model.py:20: SystemExit: 0"),
        (MODEL + "\n1 / 0\n", "model.file: my_model.py:19: ZeroDivisionError: division by zero"),
        (edited("def make", "def mkae"), "model.build: my_model.py has no 'make'; did you mean 'mkae'?"),
        (
            edited("def make(size):", "make = 3\ndef other(size):"),
            "model.build: 'make' in my_model.py is of type int",
        ),
        (
            MODEL + "\nmake = make('small')\n",
            "model.build: 'make' in my_model.py is of type Net, allowed: a",
        ),
        (
            edited("def make(size)", "def make()"),
            "model.sizes: make() in my_model.py takes no size, but the fil",
        ),
        (
            edited("def make(size)", "def make(size, depth)"),
            "model.build: make(size, depth) in my_model.py is c",
        ),
    ],
    ids=["syntax", "import", "exit", "error", "name", "number", "module", "no-size", "more"],
)
def test_a_module_that_is_wrong(tmp_path: Path, model: str, said: str) -> None:
    assert complaint(write(tmp_path, model=model)).startswith(said)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("raise ValueError('bad\\nsize')", "my_model.py:17 in make: ValueError: bad"),
        ("raise KeyError(size)", "my_model.py:17 in make: KeyError: 'small'"),
        ("raise RuntimeError('in this:\\n  that')", "my_model.py:17 in make: RuntimeError: in this: that"),
        ("raise RuntimeError", "my_model.py:17 in make: RuntimeError"),
        ("nn.Linear(3, 'x')", "my_model.py:17 in make: TypeError: "),
        ("import sys; sys.exit('bye')", "my_model.py:17 in make: SystemExit: bye"),
        ("raise KeyboardInterrupt", "my_model.py:17 in make: KeyboardInterrupt"),
        ("return {}", "make in my_model.py returned a value of type dict, allowed: a torch.nn.Module"),
        ("Net(8)", "make in my_model.py returned nothing: is there a `return`?"),
        ("return nn.ReLU()", "make in my_model.py returned a ReLU without parameters to train"),
        ("return nn.LazyLinear(3)", "make in my_model.py returned a model with lazy layers"),
        ("return Net(8).to('meta')", "make in my_model.py returned a model on the meta device"),
        ("return Net(8).requires_grad_(False)", "make in my_model.py returned a Net without parameters to"),
    ],
)
def test_a_build_function_that_is_wrong(tmp_path: Path, body: str, said: str) -> None:
    model = edited("    return Net(WIDTHS[size])", f"    {body}")

    assert complaint(write(tmp_path, model=model)).startswith(f"model.build: {said}")


def test_a_model_that_is_not_new_each_time(tmp_path: Path) -> None:
    model = edited(
        "def make(size):\n    return Net(WIDTHS[size])", "ONE = Net(8)\ndef make(size):\n    return ONE"
    )

    said = complaint(write(tmp_path, model=model))

    assert said == (
        "model.build: make in my_model.py returned a model that it had returned before, "
        "allowed: a new one each time"
    )


def test_an_error_far_inside_is_told_by_the_users_last_line(tmp_path: Path) -> None:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "sibling.py").write_text("def part():\n    return [].pop()\n")
    model = edited("    return Net(WIDTHS[size])", "    from parts.sibling import part\n    return part()")

    said = complaint(write(tmp_path, model=model))

    assert said == "model.build: parts/sibling.py:2 in part: IndexError: pop from empty list"


def test_what_it_says_is_made_fit_for_a_terminal(tmp_path: Path) -> None:
    model = edited("    return Net(WIDTHS[size])", "    raise ValueError('\\x1b[2J' + 'long ' * 999)")

    said = complaint(write(tmp_path, model=model))

    assert said.isprintable()
    assert len(said) < 400


# ---------------------------------------------------------- parts that do not fit


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "nn.Linear(12, width)",
            "nn.Linear(10, width)",
            "my_model.py:13 in forward: RuntimeError: mat1 and mat2",
        ),
        (
            ".flatten(1)",
            ".view(16, 12)",
            "my_model.py:13 in forward: RuntimeError: shape '[16, 12]' is invalid",
        ),
        (
            "return self.scores",
            "exit(1)\n        return self.scores",
            "my_model.py:13 in forward: SystemExit: 1",
        ),
        ("return self.scores", "return inputs, self.scores", "outputs of type tuple, allowed: one tensor"),
        (".relu())", ".relu()).detach()", "outputs (2, 4) float32 that no parameter has a part in: there is"),
    ],
)
def test_a_forward_that_does_not_fit(tmp_path: Path, old: str, new: str, said: str) -> None:
    found = complaint(write(tmp_path, model=edited(old, new)))

    assert found.startswith(f"model.build: inputs (2, 3, 4) float32: {said}")


def test_outputs_that_are_not_finite(tmp_path: Path) -> None:
    found = complaint(
        write(tmp_path, model=edited("return self.scores", "return float('nan') * self.scores"))
    )

    assert found == "model.build: outputs that are not finite, of inputs that are"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            '"CrossEntropyLoss"',
            '"CrossEntropy"',
            "loss.name: torch.nn has no 'CrossEntropy'; did you mean 'Cros",
        ),
        ('"CrossEntropyLoss"', '"Linear"', "loss.name: torch.nn has no 'Linear'; "),
        (
            "{ label_smoothing",
            "{ smoothing",
            "loss.arguments.smoothing: found 0.1, but torch's CrossEntropyLoss",
        ),
        (
            "label_smoothing = 0.1",
            'reduction = "sum"',
            "loss.arguments.reduction: found 'sum', allowed: 'mean': ",
        ),
        (
            "label_smoothing = 0.1",
            "weight = [1, 2]",
            "loss.name: outputs (2, 4) float32 against targets (2,) in",
        ),
        ("label_smoothing = 0.1", 'weight = "x"', "loss.arguments: CrossEntropyLoss: TypeError: "),
        (
            '"CrossEntropyLoss"\narguments = { label_smoothing = 0.1 }',
            '"MSELoss"',
            "loss.name: outputs (2, 4) float32 against targets (2,) int64: ",
        ),
        (
            '"CrossEntropyLoss"\narguments = { label_smoothing = 0.1 }',
            '"GaussianNLLLoss"',
            "loss.name: outputs (2, 4) float32 against targets (2,) int64: TypeError: ",
        ),
        (
            '"torch"\nname = "CrossEntropyLoss"\narguments = { label_smoothing = 0.1 }',
            '"mse"',
            "loss.kind: outputs (2, 4) float32 against targets (2,) int64: ",
        ),
        (
            "classes = 4",
            "classes = 5",
            "data.targets: has the label 4, allowed: 0 to 3: the model has 4 outputs",
        ),
        ('"AdamW"', '"adamw"', "optimizer.name: torch.optim has no 'adamw'; did you mean 'AdamW'?"),
        (
            "weight_decay",
            "wieght_decay",
            "optimizer.arguments.wieght_decay: found 0.01, but torch's AdamW has n",
        ),
        ("betas = [0.9, 0.99]", "betas = [0.9, 2]", "optimizer.arguments: AdamW: ValueError: Invalid beta"),
        (
            "{ weight_decay",
            "{ lr = 1, weight_decay",
            "optimizer.arguments.lr: the learning rate has a place of",
        ),
        (
            '"AdamW"\nlr = 0.01\narguments = { weight_decay = 0.01, betas = [0.9, 0.99] }',
            '"LBFGS"',
            "optimizer.name: the first step: TypeError: LBFGS.step() missing 1 required",
        ),
        (
            '"AdamW"\nlr = 0.01\narguments = { weight_decay = 0.01, betas = [0.9, 0.99] }',
            '"SparseAdam"',
            "optimizer.name: the first step: RuntimeError: SparseAdam does not support dense gradients",
        ),
    ],
)
def test_a_loss_or_an_optimizer_that_does_not_fit(tmp_path: Path, old: str, new: str, said: str) -> None:
    assert complaint(write(tmp_path, (old, new))).startswith(said)


def test_shapes_that_pytorch_would_stretch_are_refused(tmp_path: Path) -> None:
    edits = (
        ("classes = 4", "classes = 1"),
        ('dtype = "int64", classes = 1', 'dtype = "float32"'),
        ('"CrossEntropyLoss"\narguments = { label_smoothing = 0.1 }', '"L1Loss"'),
    )
    model = edited("nn.Linear(width, 4)", "nn.Linear(width, 1)")

    said = complaint(write(tmp_path, *edits, model=model))

    assert said.startswith(
        "loss.name: outputs (2, 1) float32 against targets (2,) float32: shapes that differ"
    )


def test_weights_of_a_loss_are_an_array(tmp_path: Path) -> None:
    path = write(tmp_path, ("label_smoothing = 0.1", "weight = [1, 1, 2, 2], ignore_index = 0"))

    assert isinstance(train(path)[-1], Finished)
