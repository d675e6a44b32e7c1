"""What a worker does from its start to its end: say hello, describe presets, train once."""

from __future__ import annotations

import torch

from ..protocol import Describe, Described, Hello, Start, Stop
from . import data, describe, devices
from .changes import WorkerBrokenError
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
        UserError: data that cannot be read, or a device that is lost.
    """
    link.send(
        Hello(
            torch=str(torch.__version__),
            cuda=torch.version.cuda,
            cudnn=devices.cudnn_version(),
            devices=devices.available(),
            threads=torch.get_num_threads(),
        )
    )
    command = link.next_command(timeout_s=0.05)
    if command is None:
        _warm_up()
    while True:
        if command is None:
            command = link.next_command()
        if isinstance(command, Describe):
            link.send(Described(preset=command.preset.name, sizes=describe.describe(command.preset)))
        elif isinstance(command, Start):
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


def train(start: Start, link: Link) -> None:
    """Load the data, build the model, train to the end."""
    torch.manual_seed(start.seed)
    try:
        dataset = data.load(start.preset.data, start.preset.model)
    except data.DataError as error:
        raise UserError(str(error), usage=True) from None
    try:
        StepLoop(start, dataset, link).run()
    except WorkerBrokenError as error:
        raise UserError(str(error), usage=False) from None
