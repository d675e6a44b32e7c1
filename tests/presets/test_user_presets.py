"""Presets with a user's own model and data: what their files may say, and what is said of wrong ones."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import gputrain_presets
from gputrain_presets import Preset, PresetError
from gputrain_presets.spec import Argument, TorchLoss, TorchOptimizer
from gputrain_presets.user_data import FilesData, RandomData
from gputrain_presets.user_models import UserModel
from user_presets import PRESET, with_files, write


def load(path: Path) -> Preset:
    return gputrain_presets.load(str(path))


def complaint(path: Path) -> str:
    with pytest.raises(PresetError) as caught:
        load(path)
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith(f"{path}: ")
    return text.removeprefix(f"{path}: ")


def test_the_short_form_is_enough(tmp_path: Path) -> None:
    preset = load(write(tmp_path))

    assert isinstance(preset.model, UserModel)
    assert preset.model.file == str(tmp_path / "my_model.py")
    assert (preset.size_names, preset.model.default_size) == (["small", "large"], "small")
    assert isinstance(preset.data, RandomData)
    assert preset.loss == TorchLoss(name="CrossEntropyLoss", arguments={"label_smoothing": 0.1})
    arguments: dict[str, Argument] = {"weight_decay": 0.01, "betas": [0.9, 0.99]}
    assert preset.optimizer == TorchOptimizer(name="AdamW", lr=0.01, arguments=arguments)
    assert preset.origin == ""


def test_it_survives_the_way_to_the_worker(tmp_path: Path) -> None:
    preset = load(write(tmp_path))

    assert msgspec.json.decode(msgspec.json.encode(preset), type=Preset) == preset


@pytest.mark.parametrize(
    ("sizes", "names", "default"),
    [
        ("", ["default"], "default"),
        ('sizes = ["a", "b"]\ndefault_size = "b"', ["a", "b"], "b"),
        ('sizes = [{ name = "a", parameters = 3 }, "b"]', ["a", "b"], "a"),
        ('family = "file"\nsizes = ["a"]', ["a"], "a"),
    ],
)
def test_sizes_are_names(tmp_path: Path, sizes: str, names: list[str], default: str) -> None:
    preset = load(write(tmp_path, ('sizes = ["small", "large"]', sizes)))

    assert (preset.size_names, preset.model.default_size) == (names, default)


def test_a_models_file_counts_from_the_presets_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "work" / "presets"
    folder.mkdir(parents=True)
    path = write(folder, ('"my_model.py"', '"../models/net.py"'))
    (tmp_path / "work" / "models").mkdir()
    (tmp_path / "work" / "models" / "net.py").write_text("")
    monkeypatch.chdir(tmp_path)

    preset = load(path.relative_to(tmp_path))

    assert isinstance(preset.model, UserModel)
    assert Path(preset.model.file).resolve() == tmp_path / "work" / "models" / "net.py"
    assert preset.read_from == "work/presets/mine.toml"


@pytest.mark.parametrize(
    ("line", "path"), [("", "."), ('path = "data"', "data"), ('path = "d/x.npz"', "d/x.npz")]
)
def test_files_count_from_the_presets_folder(tmp_path: Path, line: str, path: str) -> None:
    preset = with_files().replace('kind = "files"', f'kind = "files"\n{line}')

    data = load(write(tmp_path, preset=preset)).data

    assert isinstance(data, FilesData)
    assert Path(data.path) == tmp_path / path
    assert data.validation_samples is None


def test_a_known_model_is_trained_on_data_of_ones_own(tmp_path: Path) -> None:
    start, end = PRESET.index("[model]"), PRESET.index("[data]")
    mlp = 'family = "mlp"\ninputs = 12\noutputs = 4\nactivation = "relu"\ndefault_size = "a"\n'
    model = f'[model]\n{mlp}sizes = [{{ name = "a", hidden = [8] }}]\n\n'

    preset = load(write(tmp_path, preset=PRESET[:start] + model + PRESET[end:]))

    assert isinstance(preset.data, RandomData)


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('"my_model.py"', '"no_model.py"', "model.file: found 'no_model.py', allowed: the path of a Python"),
        ('"my_model.py"', '"model"', "model.file: found 'model', allowed: the path of a Python file, which"),
        ('"my_model.py"', '""', "model.file: found '', allowed: text"),
        ('build = "make"', "", "model.build: missing; it must be text of at most 200 characters, a name as"),
        (
            '"make"',
            '"my_model.make"',
            "model.build: found 'my_model.make', allowed: text of at most 200 char",
        ),
        ('"make"', '"make"\ninputs = 3', "model.inputs: unknown key; known here: family, file, build, defau"),
        ('["small", "large"]', "[]", "model.sizes: found an empty array, allowed: an array of at least 1"),
        (
            '["small", "large"]',
            '["a", "a"]',
            "model.sizes[1].name: found 'a', allowed: a name that model.siz",
        ),
        ('["small", "large"]', "[3]", "model.sizes[0].name: found 3, allowed: text of at most 60 characters"),
        ('["small", "large"]', '["a"]\ndefault_size = "b"', "model.default_size: found 'b', allowed: 'a'"),
        ("[3, 4]", "[3, 0]", "data.inputs.shape[1]: found 0, allowed: a whole number from 1"),
        ("[3, 4]", "3", "data.inputs.shape: found 3, allowed: an array of each a whole number from 1"),
        ('"float32"', '"float16"', "data.inputs.dtype: found 'float16', allowed: 'float32' or 'int64'"),
        (
            ", classes = 4",
            "",
            "data.targets.classes: missing; it must be a whole number from 1 where dtype is",
        ),
        ('"float32"', '"float32", classes = 3', "data.inputs.classes: found 3, allowed: none where dtype is"),
        ('"random"', '"teacher"', "data.inputs: unknown key"),
        ("batch_size = 16", "batch_size = 999", "batch_size: found 999, allowed: at most data.training_samp"),
        ("label_smoothing = 0.1", "weight = { a = 1 }", "loss.arguments: found a table, allowed: a table wh"),
        ('"CrossEntropyLoss"', '"nn.MSELoss"', "loss.name: found 'nn.MSELoss', allowed: text of at most 100"),
        ("lr = 0.01", "lr = -1", "optimizer.lr: found -1, allowed: a number above 0"),
    ],
)
def test_a_wrong_key(tmp_path: Path, right: str, wrong: str, said: str) -> None:
    assert complaint(write(tmp_path, (right, wrong))).startswith(said)


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ('inputs = "x.npy"', "", "data.inputs: missing; it must be text"),
        ("_share = 0.25", "_share = 1", "data.validation_share: found 1, allowed: a number from 0 below 1"),
        ("_share = 0.25", '_inputs = "v.npy"', "data.validation_targets: missing; it must be there where"),
        (
            "_share = 0.25",
            '_share = 0.25\nvalidation_inputs = "v"\nvalidation_targets = "w"',
            "data.validation_share: found 0.25, allowed: none where validation_inputs is given",
        ),
        (
            "_share = 0.25",
            '_share = 0.25\ninput_dtype = "int64"\ninput_scale = 0.5',
            "data.input_scale: found 0.5, allowed: none where input_dtype is 'int64'",
        ),
    ],
)
def test_a_wrong_key_of_data_in_files(tmp_path: Path, right: str, wrong: str, said: str) -> None:
    path = write(tmp_path, (right, wrong), preset=with_files())

    assert complaint(path).startswith(said)


def test_data_of_known_models_alone_is_refused(tmp_path: Path) -> None:
    start, end = PRESET.index("[data]"), PRESET.index("[loss]")
    teacher = '[data]\nkind = "teacher"\ntraining_samples = 99\nvalidation_samples = 0\n\n'

    said = complaint(write(tmp_path, preset=PRESET[:start] + teacher + PRESET[end:]))

    allowed = "'random', 'files', 'digits' or 'images' where model.family is 'file'"
    assert said == f"data.kind: found 'teacher', allowed: {allowed}"
