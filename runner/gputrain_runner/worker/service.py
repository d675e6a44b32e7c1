"""What a worker does from its start to its end: say hello, describe presets, train once."""

from __future__ import annotations

import gc

import torch

from gputrain_presets import Preset, PresetError

from ..protocol import CountWork, Describe, Described, Hello, Probe, Start, Stop, TimeSteps, WorkCounted
from . import data, describe, devices, first_batch, probe, time_steps, work_count
from .changes import WorkerBrokenError, plain
from .cuda_absence import cuda_absence
from .link import Link
from .loop import StepLoop


class UserError(Exception):
    """Something the user can mend; the text is one line.

    Attributes:
        usage: whether it is the command line or a file that is wrong, rather than the run that failed.
    """

    def __init__(self, text: str, usage: bool) -> None:
        super().__init__(text)
        self.usage = usage


def serve(link: Link) -> None:
    """Answer commands; returns when training has ended or `Stop` came.

    Raises:
        UserError: data that cannot be read, a preset's file that is wrong, or a device that is lost.
    """
    link.send(
        Hello(
            torch=str(torch.__version__),
            cuda=torch.version.cuda,
            cudnn=devices.cudnn_version(),
            devices=devices.available(),
            threads=torch.get_num_threads(),
            cuda_absence=cuda_absence(),
        )
    )
    command = link.next_command(timeout_s=0.05)
    if command is None:
        _warm_up()
    while True:
        if command is None:
            command = link.next_command()
        if isinstance(command, Describe):
            link.send(_describe(command.preset))
        elif isinstance(command, CountWork):
            link.send(_count_work(command))
        elif isinstance(command, TimeSteps):
            _keep_what_is_loaded()
            link.send(time_steps.time_steps(command))
        elif isinstance(command, Probe):
            probe.answer(command, link)
        elif isinstance(command, Start):
            _keep_what_is_loaded()
            train(command, link)
            return
        elif isinstance(command, Stop):
            return
        command = None


def _warm_up() -> None:
    """Do what the first training would wait for, while the user still chooses what to train.

    PyTorch imports its compiler with the first optimizer, which takes about a second.
    """
    torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=0.1)


def _keep_what_is_loaded() -> None:
    """Have garbage collection pass over PyTorch itself: each full one would hold up the steps for 0.1 s.

    Before the model is built, so that a model that is exchanged for another can be collected.
    """
    _warm_up()
    gc.freeze()


def train(start: Start, link: Link) -> None:
    """Load the data, build the model, train to the end."""
    torch.manual_seed(start.seed)
    preset = start.preset
    try:
        dataset = data.load(preset.data, preset.model)
        _check_batch_size(start, dataset)
        first_batch.check(preset, dataset, start.settings)
        loop = StepLoop(start, dataset, link)
    except data.DataError as error:
        raise UserError(str(error), usage=True) from None
    except PresetError as error:
        raise UserError(_in_file(preset, error), usage=True) from None
    try:
        loop.run()
    except WorkerBrokenError as error:
        raise UserError(str(error), usage=False) from None
    except SystemExit as left:  # A model of the user's called sys.exit.
        raise UserError(plain(left), usage=False) from None
    finally:
        loop.close()


def _describe(preset: Preset) -> Described:
    try:
        return Described(preset=preset.name, sizes=describe.describe(preset))
    except PresetError as error:
        raise UserError(_in_file(preset, error), usage=True) from None


def _count_work(asked: CountWork) -> WorkCounted:
    try:
        return work_count.count(asked.preset, asked.model_size, asked.batch_size, asked.passes)
    except PresetError as error:
        raise UserError(_in_file(asked.preset, error), usage=True) from None


def _check_batch_size(start: Start, dataset: data.Dataset) -> None:
    asked, there = start.settings.batch_size, len(dataset.training)
    if asked > there:
        most = f"at most {there:,}, the training samples there are"
        raise PresetError(f"batch_size: found {asked:,}, allowed: {most}")


def _in_file(preset: Preset, error: PresetError) -> str:
    """What is wrong with a preset's file, which the error does not know."""
    return f"{preset.read_from}: {error}" if preset.read_from else str(error)
