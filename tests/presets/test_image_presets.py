"""The image presets: their other names, the figures published for them, and what a wrong file is told."""

from __future__ import annotations

from pathlib import Path

import pytest

import gputrain_presets
from gputrain_presets import Preset, PresetError
from gputrain_presets.spec import CrossEntropyLoss, ImagesData, Published, SgdOptimizer

PACKAGE = Path(gputrain_presets.__file__).parent
NAMES = ["alexnet", "overfeat", "vgg", "googlenet", "resnet"]
ALIASES = {
    "resnet50": ("resnet", "50"),
    "resnet101": ("resnet", "101"),
    "resnet152": ("resnet", "152"),
    "vgg16": ("vgg", "16"),
}


@pytest.mark.parametrize("name", NAMES)
def test_an_image_preset_trains_a_classifier_on_a_bounded_pool(name: str) -> None:
    preset = gputrain_presets.load(name)

    assert name in gputrain_presets.names()
    assert preset.batch_size == 64
    assert isinstance(preset.loss, CrossEntropyLoss)
    assert isinstance(preset.optimizer, SgdOptimizer)
    assert preset.optimizer.momentum == 0.9
    assert isinstance(preset.data, ImagesData)
    assert preset.data.path is None
    assert preset.data.training_samples == 512


def test_the_ladders() -> None:
    ladders = {name: gputrain_presets.load(name).size_names for name in NAMES}
    defaults = {name: gputrain_presets.load(name).model.default_size for name in NAMES}

    assert ladders == {
        "alexnet": ["x0.5", "x1", "x2"],
        "overfeat": ["x0.5", "x1"],
        "vgg": ["11", "13", "16", "19"],
        "googlenet": ["x0.5", "x1", "x2"],
        "resnet": ["18", "34", "50", "101", "152"],
    }
    assert defaults == {"alexnet": "x1", "overfeat": "x1", "vgg": "11", "googlenet": "x1", "resnet": "50"}


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_is_the_preset_at_another_size(alias: str) -> None:
    name, size = ALIASES[alias]

    preset = gputrain_presets.load(alias)

    assert preset.name == name
    assert preset.model.default_size == size
    assert preset.size_names == gputrain_presets.load(name).size_names


def test_aliases_are_not_listed_and_name_no_other_preset() -> None:
    names = gputrain_presets.names()
    aliases = [alias for name in names for alias in gputrain_presets.load(name).aliases]

    assert sorted(aliases) == sorted(ALIASES)
    assert not set(aliases) & set(names)


def test_a_name_like_an_alias_is_suggested() -> None:
    with pytest.raises(PresetError, match="did you mean 'vgg16'"):
        gputrain_presets.load("vgg-16")


def point(preset: Preset, figure: Published) -> tuple[str, str, str, int]:
    """What was measured, but for the passes."""
    size = figure.size or preset.model.default_size
    return figure.hardware, figure.framework, size, figure.batch_size


@pytest.mark.parametrize("name", NAMES)
def test_published_figures_can_be_compared(name: str) -> None:
    preset = gputrain_presets.load(name)

    assert {figure.unit for figure in preset.published} <= {"ms", "images/s"}
    seen = {}
    for figure in preset.published:
        key = (*point(preset, figure), figure.passes)
        assert key not in seen, key
        seen[key] = figure
    for figure in preset.published:
        forward = seen.get((*point(preset, figure), "forward"))
        if figure.passes == "training" and forward is not None:
            assert 2 < figure.value / forward.value < 5, "backward takes once to four times forward's time"


@pytest.mark.parametrize("name", NAMES)
def test_a_larger_network_was_never_published_as_the_faster_one(name: str) -> None:
    preset = gputrain_presets.load(name)
    rates: dict[tuple[str, str, int, str], dict[str, float]] = {}
    for figure in preset.published:
        hardware, framework, size, batch_size = point(preset, figure)
        seconds = figure.value / 1e3 if figure.unit == "ms" else batch_size / figure.value
        rates.setdefault((hardware, framework, batch_size, figure.passes), {})[size] = seconds

    for key, by_size in rates.items():
        along_the_ladder = [by_size[size] for size in preset.size_names if size in by_size]
        assert along_the_ladder == sorted(along_the_ladder), key


def test_the_figures_of_the_question_are_vggs() -> None:
    found = {
        figure.batch_size: figure.value
        for figure in gputrain_presets.load("vgg").published
        if (figure.hardware, figure.framework) == ("NVIDIA GTX 1080", "TensorFlow 1.0")
    }

    assert found == {64: 420.28, 128: 899.86}


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("depth = 13", "depth = 12", "model.sizes[1].depth: found 12, allowed: 11, 13, 16 or 19"),
        ("depth = 13", "width = 2.0", "model.sizes[1].width: unknown key"),
        (
            "image_side = 224",
            "image_side = 16",
            "model.image_side: found 16, allowed: a whole number from 32",
        ),
        ("\nside = 224", "\nside = 225", "data.side: found 225, allowed: model.image_side, 224"),
        ("\nside = 224", "\nside = 224\nchannels = 1", "data.channels: found 1, allowed: 3"),
        ("\nside = 224", "\nside = 224\nchannels = 2", "data.channels: found 2, allowed: 1 or 3"),
        ("classes = 8", "classes = 1001", "data.classes: found 1001, allowed: at most model.classes, 1000"),
        ("classes = 8", "classes = 0", "data.classes: found 0, allowed: a whole number from 1"),
        (
            'kind = "images"',
            'kind = "image"',
            "data.kind: found 'image', allowed: 'teacher', 'digits', 'images'",
        ),
        ('kind = "cross_entropy"', 'kind = "mse"', "loss.kind: found 'mse', allowed: 'cross_entropy'"),
        ('vgg16 = "16"', 'vgg16 = "17"', "aliases.vgg16: found '17', allowed: '11', '13', '16' or '19'"),
        ('vgg16 = "16"', "vgg16 = 16", "aliases: found a table, allowed: a table whose keys are text"),
        ('size = "16"', 'size = "17"', "].size: found '17', allowed: '11', '13', '16' or '19'"),
    ],
)
def test_a_wrong_key(tmp_path: Path, right: str, wrong: str, said: str) -> None:
    content = (PACKAGE / "vgg.toml").read_text()
    assert right in content
    file = tmp_path / "mine.toml"
    file.write_text(content.replace(right, wrong, 1))

    with pytest.raises(PresetError) as raised:
        gputrain_presets.load(str(file))

    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    ("name", "kind", "said"),
    [
        (
            "vgg",
            "teacher",
            "data.kind: found 'teacher', allowed: 'images', 'random' or 'files' where model.family is 'vgg'",
        ),
        (
            "keras-mnist-mlp",
            "images",
            "data.kind: found 'images', allowed: 'teacher', 'digits', 'random' or 'files' where",
        ),
    ],
)
def test_data_that_does_not_fit_the_model(tmp_path: Path, name: str, kind: str, said: str) -> None:
    content = (PACKAGE / f"{name}.toml").read_text()
    data = content.index("[data]")
    loss = content.index("[loss]")
    table = f'[data]\nkind = "{kind}"\ntraining_samples = 512\nvalidation_samples = 0\n\n'
    content = content[:data] + table + content[loss:]
    if kind == "teacher":
        content = content.replace('kind = "cross_entropy"', 'kind = "mse"')
    file = tmp_path / "mine.toml"
    file.write_text(content)

    with pytest.raises(PresetError) as raised:
        gputrain_presets.load(str(file))

    assert said in str(raised.value)


def test_a_folder_counts_from_the_file_and_may_have_any_number_of_samples(tmp_path: Path) -> None:
    content = (PACKAGE / "vgg.toml").read_text()
    content = content.replace("training_samples = 512", 'training_samples = 1\npath = "photographs"')
    file = tmp_path / "mine.toml"
    file.write_text(content)

    data = gputrain_presets.load(str(file)).data

    assert isinstance(data, ImagesData)
    assert data.path == str(tmp_path.resolve() / "photographs")
