"""Preset files that are wrong: one line that names file, key, what was found and what is allowed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import gputrain_presets
from gputrain_presets import PresetError

PACKAGE = Path(gputrain_presets.__file__).parent
LASAGNE = (PACKAGE / "lasagne-mlp.toml").read_text(encoding="utf-8")
KERAS = (PACKAGE / "keras-mnist-mlp.toml").read_text(encoding="utf-8")


def complaint(path: Path | str) -> str:
    with pytest.raises(PresetError) as caught:
        gputrain_presets.load(str(path))
    text = str(caught.value)
    assert "\n" not in text
    return text


def complaint_about(tmp_path: Path, content: str | bytes) -> str:
    """What is said of a file of that content, without the file's name that it begins with."""
    path = tmp_path / "mine.toml"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    text = complaint(path)
    assert text.startswith(f"{path}: ")
    return text.removeprefix(f"{path}: ")


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        # A value of the wrong kind or out of bounds.
        ("batch_size = 1024", "batch_size = 0", "batch_size: found 0, allowed: a whole number from 1"),
        ("batch_size = 1024", 'batch_size = "x"', "batch_size: found 'x', allowed: a whole number from 1"),
        ("batch_size = 1024", "batch_size = 1.5", "batch_size: found 1.5, allowed: a whole number from 1"),
        ("batch_size = 1024", "batch_size = true", "batch_size: found true, allowed: a whole number from 1"),
        ("drop_last = true", "drop_last = 1", "drop_last: found 1, allowed: true or false"),
        ("lr = 0.5", "lr = 0", "optimizer.lr: found 0, allowed: a number above 0"),
        ("lr = 0.5", "lr = inf", "optimizer.lr: found inf, allowed: a finite number"),
        ("momentum = 0.5", "momentum = 1", "optimizer.momentum: found 1, allowed: a number from 0 below 1"),
        ("seed = 0", f"seed = {2**63}", f"data.seed: found {2**63}, allowed: a whole number up to"),
        ('name = "lasagne-mlp"', "name = 2017-02-07", "name: found 2017-02-07, allowed: text of at most 60"),
        ('name = "x0.5"', 'name = "x 5"', "model.sizes[3].name: found 'x 5', allowed: text of at most 60 ch"),
        ('name = "x0.5"', r'name = "x5\n"', r"model.sizes[3].name: found 'x5\n', allowed: one line of text"),
        ('title = "', r'title = "a\u001b[2Jb', r"title: found 'a\x1b[2Jb"),
        # Tables and arrays.
        ("hidden = [10, 28, 19]", "hidden = []", "model.sizes[1].hidden: found an empty array, allowed: an"),
        ("hidden = [10, 28, 19]", "hidden = 10", "model.sizes[1].hidden: found 10, allowed: an array of at"),
        ("[10, 28, 19]", '[10, "28"]', "model.sizes[1].hidden[1]: found '28', allowed: a whole number from"),
        ("[loss]", "[loss.x]", "loss.kind: missing; it must be 'mse', 'cross_entropy' or "),
        # One of a few.
        ('"elu"', '"elo"', "model.activation: found 'elo', allowed: 'elu', 'gelu', 'relu', 'sigmoid' or 'ta"),
        ('kind = "sgd"', 'kind = "sdg"', "optimizer.kind: found 'sdg', allowed: 'sgd', 'adam', 'nadam' or '"),
        ('kind = "sgd"', "kind = 3", "optimizer.kind: found 3, allowed: 'sgd', 'adam', 'nadam' or 'tor"),
        ('family = "mlp"', 'family = "cnn"', "model.family: found 'cnn', allowed: 'mlp'"),
        # Missing and unknown keys.
        ("batch_size = 1024", "", "batch_size: missing; it must be a whole number from 1"),
        ("hidden = [10, 28, 19]", "", "model.sizes[1].hidden: missing; it must be an array of at least 1, e"),
        ('kind = "sgd"', "", "optimizer.kind: missing; it must be 'sgd', 'adam', 'nadam' or 't"),
        ('family = "mlp"', "", "model.family: missing; it must be the name of a family of models, such as '"),
        ("batch_size = 1024", 'batch_size = 8\nread_from = "x"', "read_from: unknown key"),
        ("batch_size = 1024", "batch_sise = 1024", "batch_sise: unknown key; did you mean 'batch_size'?"),
        ("hidden = [10", "hiden = [10", "model.sizes[1].hiden: unknown key; did you mean 'hidden'?"),
        ('kind = "sgd"', 'kind = "adam"', "optimizer.momentum: unknown key; known here: kind, lr, betas, ep"),
        ("[loss]", "[los]", "los: unknown key; did you mean 'loss'?"),
        # Keys that do not fit together.
        ('"x1"', '"x3"', "model.default_size: found 'x3', allowed: '1x15', 'x0.25', '5x15', 'x0.5', '1x150'"),
        ('"x0.5"', '"x0.25"', "model.sizes[3].name: found 'x0.25', allowed: a name that model.sizes[1] does"),
        (
            "depth = [1, 5]",
            "depth = [5, 1]",
            "model.any_size.depth[1]: found 1, allowed: a whole number from",
        ),
        (
            "depth = [1, 5]",
            "depth = [1]",
            "model.any_size.depth: found an array of 1, allowed: an array of 2",
        ),
        (
            "lr = 0.5",
            "learning_rates = []",
            "optimizer.learning_rates: found an empty array, allowed: an arra",
        ),
        (
            "lr = 0.5",
            "learning_rates = [0.5, 0]",
            "optimizer.learning_rates[1]: found 0, allowed: a number ab",
        ),
        ("lr = 0.5", "learning_rates = [-1]", "optimizer.learning_rates[0]: found -1, allowed: a numb"),
        (
            "lr = 0.5",
            "lr = 0.5\nlearning_rates = [0.1]",
            "optimizer.lr: found 0.5, allowed: the first of lea",
        ),
        ("momentum = 0.5", "", "optimizer.momentum: found 0.0, allowed: above 0 where nesterov is true"),
        ("_size = 1024", "_size = 934_919", "batch_size: found 934919, allowed: at most data.training_sampl"),
        ('"mse"', '"cross_entropy"', "loss.kind: found 'cross_entropy', allowed: 'mse' or 'torch' where da"),
        # Not TOML.
        ("[model]", "[model", "line 11, column 7: not valid TOML: "),
        ("drop_last = true", "batch_size = 1", "line 9, column 15: not valid TOML: Cannot overwrite a value"),
    ],
)
def test_a_wrong_key(tmp_path: Path, right: str, wrong: str, said: str) -> None:
    assert LASAGNE.count(right) >= 1

    assert complaint_about(tmp_path, LASAGNE.replace(right, wrong, 1)).startswith(said)


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("inputs = 784", "inputs = 75", "model.inputs: found 75, allowed: 784 where data.kind is 'digits'"),
        ("outputs = 10", "outputs = 9", "model.outputs: found 9, allowed: 10 where data.kind is 'digits'"),
        ('"cross_entropy"', '"mse"', "loss.kind: found 'mse', allowed: 'cross_entropy' or 'torch' where da"),
        ("[0.9, 0.999]", "[0.9]", "optimizer.betas: found an array of 1, allowed: an array of 2: a number f"),
        ("[0.9, 0.999]", "[0.9, 1]", "optimizer.betas[1]: found 1, allowed: a number from 0 below 1"),
        ('"training"', '"both"', "published[0].passes: found 'both', allowed: 'forward' or 'training'"),
        ("source =", '"so\\nurce" =', r"published[0].'so\nurce': unknown key; did you mean 'source'?"),
        ('normalise = "l2"', "path = 3", "data.path: found 3, allowed: text"),
    ],
)
def test_a_wrong_key_of_the_other_kinds(tmp_path: Path, right: str, wrong: str, said: str) -> None:
    assert KERAS.count(right) >= 1

    assert complaint_about(tmp_path, KERAS.replace(right, wrong, 1)).startswith(said)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "name: missing; it must be text of at most 60 characters"),
        (LASAGNE[: LASAGNE.index("[loss]")], "loss: missing; it must be a table whose kind is 'mse', 'cross"),
        ("model = 3\n", "model: found 3, allowed: a table whose family is 'mlp'"),
        (LASAGNE + '\nx = "', "line 90, column 6: not valid TOML: Unterminated string"),
        (b'name = "\xe9"\n', "line 1: found the byte 0xe9, allowed: UTF-8 text"),
        (LASAGNE.encode("utf-16"), "line 1: found the byte 0xff, allowed: UTF-8 text"),
        ("x = " + "[" * 5000 + "]" * 5000, "tables or arrays are nested too deeply"),
        (".".join("a" * 5000) + " = 1", "tables or arrays are nested too deeply"),
        (b"#" * 1_000_001, "larger than 1,000,000 bytes; this is no preset file"),
    ],
    ids=[
        "empty",
        "cut",
        "no-table",
        "open-string",
        "latin-1",
        "utf-16",
        "deep-arrays",
        "deep-tables",
        "large",
    ],
)
def test_a_file_that_is_no_preset(tmp_path: Path, content: str | bytes, said: str) -> None:
    assert complaint_about(tmp_path, content).startswith(said)


def test_a_file_that_cannot_be_had(tmp_path: Path) -> None:
    (tmp_path / "folder.toml").mkdir()
    missing, folder = tmp_path / "missing.toml", tmp_path / "folder.toml"

    assert complaint(missing) == f"{missing}: there is no such file"
    assert complaint(folder) == f"{folder}: this is a folder; a preset is a TOML file"
    assert complaint(f"{missing}/x.toml") == f"{missing}/x.toml: there is no such file"
    assert complaint("a\0.toml").startswith(r"'a\x00.toml': cannot be read")


def test_a_pipe_is_refused_and_not_waited_for(tmp_path: Path) -> None:
    pipe = tmp_path / "mine.toml"
    os.mkfifo(pipe)
    with pytest.raises(PresetError, match=r"mine\.toml: this is not a regular file"):
        gputrain_presets.load(str(pipe))
