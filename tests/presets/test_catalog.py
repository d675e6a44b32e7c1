"""The catalog: the presets that come with the program, and presets in files of the user's."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from msgspec import structs

import gputrain_presets
from gputrain_presets import PresetError
from gputrain_presets.spec import (
    CrossEntropyLoss,
    DigitsData,
    MlpModel,
    MseLoss,
    NadamOptimizer,
    SgdOptimizer,
    TeacherData,
)

PACKAGE = Path(gputrain_presets.__file__).parent


def test_the_simplest_preset_comes_first() -> None:
    assert gputrain_presets.names()[:2] == ["lasagne-mlp", "keras-mnist-mlp"]


def test_every_preset_file_is_listed_once() -> None:
    files = [path.stem for path in PACKAGE.glob("*.toml")]

    assert sorted(gputrain_presets.names()) == sorted(files)


@pytest.mark.parametrize("name", gputrain_presets.names())
def test_a_built_in_preset_is_sound(name: str) -> None:
    preset = gputrain_presets.load(name)

    assert preset.name == name
    assert len(preset.title) <= 60, "must fit beside its name and size in 80 columns"
    assert preset.origin == " ".join(preset.origin.split())
    assert preset.size(preset.model.default_size).parameters is not None
    copy = gputrain_presets.load(str(PACKAGE / f"{name}.toml"))
    assert structs.replace(copy, read_from=None) == preset


def test_lasagne_mlp_is_the_network_of_the_question() -> None:
    preset = gputrain_presets.load("lasagne-mlp")
    model = preset.model

    assert isinstance(model, MlpModel)
    assert (model.inputs, model.outputs, preset.batch_size) == (75, 10, 1024)
    assert (model.activation, model.output_activation, model.dropout) == ("elu", "tanh", 0.0)
    assert model.initialisation == "glorot_uniform"
    assert preset.drop_last
    assert preset.loss == MseLoss()
    assert preset.optimizer == SgdOptimizer(lr=0.5, momentum=0.5, nesterov=True)
    assert isinstance(preset.data, TeacherData)
    assert (preset.data.training_samples, preset.data.validation_samples) == (934_918, 103_880)
    assert preset.published == []


def test_the_sizes_of_lasagne_mlp_are_factors_and_corners_of_the_search_by_their_parameters() -> None:
    preset = gputrain_presets.load("lasagne-mlp")
    model = preset.model

    assert isinstance(model, MlpModel)
    factors = [name for name in preset.size_names if name.startswith("x")]
    assert factors == ["x0.25", "x0.5", "x1", "x2", "x4", "x8", "x16"]
    assert set(preset.size_names) - set(factors) == {"1x15", "5x15", "1x150", "5x150"}
    assert (model.default_size, model.parameters("x1")) == ("x1", 17_107)
    for size in model.sizes:
        if size.name in factors:
            factor = float(size.name.removeprefix("x"))
            assert size.hidden == [math.floor(units * factor + 0.5) for units in (40, 113, 76)], size.name
        else:
            depth, width = map(int, size.name.split("x"))
            assert size.hidden == [width] * depth, size.name
    parameters = [model.parameters(name) for name in preset.size_names]
    assert parameters == sorted(parameters)


@pytest.mark.parametrize(
    ("name", "hidden"),
    [
        ("3x80", [80, 80, 80]),
        ("5x15", [15] * 5),
        ("40-113-76", [40, 113, 76]),
        ("15-150", [15, 150]),
        ("1x150", [150]),
        ("x2", [80, 226, 152]),
    ],
)
def test_any_network_of_the_question_is_a_size(name: str, hidden: list[int]) -> None:
    preset = gputrain_presets.load("lasagne-mlp")

    assert preset.has_size(name)
    assert isinstance(preset.model, MlpModel)
    assert preset.model.hidden(name) == hidden
    ladder = preset.ladder_with(name)
    parameters = [preset.model.parameters(rung) for rung in ladder]
    assert name in ladder
    assert parameters == sorted(parameters)


@pytest.mark.parametrize(
    "name", ["6x80", "0x80", "3x14", "3x151", "3x080", "80", "40-14", "15-15-15-15-15-15", "3x", ""]
)
def test_networks_beyond_the_question_are_no_sizes(name: str) -> None:
    assert not gputrain_presets.load("lasagne-mlp").has_size(name)
    assert not gputrain_presets.load("keras-mnist-mlp").has_size("3x80")


def test_keras_mnist_mlp_is_the_network_of_the_question() -> None:
    preset = gputrain_presets.load("keras-mnist-mlp")
    model = preset.model

    assert isinstance(model, MlpModel)
    assert (model.inputs, model.outputs, preset.batch_size, preset.epochs) == (784, 10, 128, 10)
    assert (model.activation, model.output_activation, model.dropout) == ("relu", "none", 0.2)
    assert model.initialisation == "glorot_uniform"
    assert {size.name: size.hidden for size in model.sizes} == {
        "100": [100, 150, 50, 50],
        "750": [750, 150, 50, 50],
        "1000": [1000, 150, 50, 50],
        "4000": [4000, 150, 50, 50],
    }
    assert model.default_size == "750"
    assert preset.loss == CrossEntropyLoss()
    assert preset.optimizer == NadamOptimizer(lr=0.002, betas=(0.9, 0.999), eps=1e-8, momentum_decay=0.004)
    assert preset.data == DigitsData(training_samples=60_000, validation_samples=10_000, normalise="l2")
    assert [(figure.framework.rpartition(", ")[2], figure.value) for figure in preset.published] == [
        ("H = 1000", 103.7),
        ("H = 1000", 29.5),
        ("H = 100", 15.0),
        ("H = 100", 20.0),
    ]


def test_a_preset_file_may_lie_anywhere_and_its_data_path_counts_from_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = (PACKAGE / "keras-mnist-mlp.toml").read_text(encoding="utf-8")
    folder = tmp_path / "mine"
    folder.mkdir()
    (folder / "mine.toml").write_text(text.replace("[data]", '[data]\npath = "mnist"'), encoding="utf-8")
    monkeypatch.chdir(tmp_path)

    preset = gputrain_presets.load(str(Path("mine") / "mine.toml"))

    assert isinstance(preset.data, DigitsData)
    assert preset.data.path == str(folder / "mnist")


def test_a_file_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    path = tmp_path / "mine.toml"
    path.write_bytes(b"\xef\xbb\xbf" + (PACKAGE / "lasagne-mlp.toml").read_bytes())

    preset = gputrain_presets.load(str(path))

    assert preset.read_from == str(path)
    assert structs.replace(preset, read_from=None) == gputrain_presets.load("lasagne-mlp")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("lasagne-mpl", "did you mean 'lasagne-mlp'?"),
        ("keras", "did you mean 'keras-mnist-mlp'?"),
        ("???", "there are lasagne-mlp, keras-mnist-mlp"),
        ("", "there are lasagne-mlp, keras-mnist-mlp"),
        ("a\nb", "no preset is called 'a\\nb'"),
    ],
)
def test_an_unknown_name_is_one_line_with_a_suggestion(name: str, said: str) -> None:
    with pytest.raises(PresetError) as caught:
        gputrain_presets.load(name)

    assert said in str(caught.value)
    assert "\n" not in str(caught.value)
