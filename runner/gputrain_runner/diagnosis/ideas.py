"""Each bottleneck in plain words: its title, and the idea behind it for who never profiled anything."""

from __future__ import annotations

from dataclasses import dataclass

from .rules import names


@dataclass(frozen=True, slots=True)
class Idea:
    """What to call a bottleneck on a screen, and a paragraph about it."""

    title: str
    paragraph: str


IDEAS: dict[str, Idea] = {
    names.CANNOT_SAY: Idea(
        "Cannot say yet",
        "A verdict needs steps that are alike: after a start or a change some are left out, and a burst of "
        "profiled steps must have shown what really runs. Where steps differ from one another more than any "
        "remedy would change them, a figure would be a guess, so none is given. The reason stands beside "
        "it.",
    ),
    names.INPUT: Idea(
        "Input-bound",
        "Before anything can be computed the batch has to be there: read, decoded, put together. Where that "
        "takes longer than computing, the device waits, and a faster device only waits longer. What helps "
        "is making the batch in several processes, ahead of time, or once and for all; not another GPU.",
    ),
    names.TRANSFER: Idea(
        "Transfer-bound",
        "A GPU computes on its own memory, so every batch is copied over the link first. If the copy is not "
        "done while something else is computed, its whole time is added to the step. Pinned memory copies "
        "faster, a copy ahead of time hides behind the computing, and data that fit on the GPU need not be "
        "copied at all.",
    ),
    names.LAUNCH: Idea(
        "Launch-bound",
        "The program tells the device what to do one operation at a time, and each telling costs some "
        "microseconds of the host's time, however little there is to do. With small layers and small "
        "batches the device is done before the next order arrives and idles in between. A faster device "
        "changes nothing; fewer orders do (a CUDA graph, fused operations), or more work in each (a larger "
        "batch, several models at once).",
    ),
    names.NEW_GPU: Idea(
        "New GPU no faster",
        "Two cards of very different speed take the same time where both wait for the same host: the time "
        "it takes to start the step's kernels is a floor under either. Only what lowers that floor helps.",
    ),
    names.SLOWER_THAN_CPU: Idea(
        "Slower than the CPU",
        "On both devices a step takes a fixed time plus a time for each sample. The GPU's fixed time is "
        "larger, because every operation must be started on it, and its time for a sample smaller. Below "
        "the batch or model size where the two lines cross, the CPU is faster; above it, the GPU.",
    ),
    names.SYNC: Idea(
        "Synchronisation-bound",
        "Host and GPU work side by side: the host queues operations well ahead of the GPU. Reading a value "
        "back (.item(), print(loss), an if on a tensor) makes the host wait until the GPU has caught up, "
        "and then the GPU waits for the host. They take turns, and both idle half of the time. Read values "
        "back rarely.",
    ),
    names.GRID: Idea(
        "Too little work at a time",
        "A GPU has many processors, and a kernel is spread over them in blocks. A small kernel has too few "
        "blocks for all of them: the GPU counts as busy, though most of it has nothing to do. A larger "
        "batch or wider layers fill it at little cost.",
    ),
    names.BANDWIDTH: Idea(
        "Memory-bandwidth-bound",
        "Additions, activations, normalisation and the optimizer do little arithmetic for each number they "
        "read and write, so memory decides how long they take, not arithmetic. It helps to move fewer "
        "bytes: fused operations read and write once for several, 16-bit numbers are half as large.",
    ),
    names.COMPUTE: Idea(
        "Compute-bound",
        "The device spends its time in matrix products and convolutions, one after another. That is what it "
        "is for: nothing is wasted around them. What makes it faster is less arithmetic, arithmetic in "
        "lower precision, or a faster device.",
    ),
    names.TENSOR_CORES: Idea(
        "Tensor cores idle",
        "Since 2017 NVIDIA's GPUs have units of their own for matrix products, several times as fast as the "
        "ordinary ones. They take 16-bit numbers, or since 2020 fp32 ones with a shortened mantissa (tf32). "
        "Plain fp32 does not use them. Lower precision changes the arithmetic a little; training usually "
        "does not mind.",
    ),
    names.OPTIMIZER: Idea(
        "Optimizer-heavy",
        "After each backward pass the optimizer changes every weight, by several small operations on each "
        "tensor of the network. With many tensors, or few samples in a batch, that is a large part of the "
        "step. Done for all tensors at once (foreach) or in one operation (fused), it costs a fraction. It "
        "does not grow with the batch, so larger batches make it matter less.",
    ),
    names.RECURRENCE: Idea(
        "Unfused recurrence",
        "A recurrent network goes through time one step after another. Written as a loop, each step in time "
        "is a dozen small operations, forward and backward, thousands for one training step, and starting "
        "them takes longer than computing them. A library's LSTM or GRU does the whole sequence in a few.",
    ),
    names.LAYOUT: Idea(
        "Layout",
        "Images can lie in memory channel by channel or pixel by pixel (channels last). The fast "
        "convolutions, on tensor cores above all, are written for the latter; from the former they copy to "
        "and fro. Whether it is faster for a network, trying tells.",
    ),
    names.RECOMPILING: Idea(
        "Recompiling",
        "A compiled step fits the shapes that it was compiled for. Where batches or sequences vary in "
        "length, it is compiled again for each new shape, which takes seconds. Keep the shapes few and "
        "fixed.",
    ),
    names.OVERSUBSCRIBED: Idea(
        "CPU oversubscribed",
        "Each operation is divided among threads that wait for one another at its end. With more threads "
        "than cores some always wait for a core first, and all wait for those. As many threads as cores, or "
        "fewer, are faster; loader processes count too.",
    ),
    names.SINGLE_CORE: Idea(
        "Single-core-bound",
        "One core does all the computing while others have nothing to do. Large operations can be divided "
        "among cores by PyTorch's threads. Small ones cannot: for those more threads cost more than they "
        "give.",
    ),
    names.CPU_SHARED: Idea(
        "CPU shared",
        "Other programs use the cores that training needs, and the system gives each a part of the time. "
        "The step takes longer, and varies. Nothing in the training can change that.",
    ),
    names.DENORMALS: Idea(
        "Denormal numbers",
        "Numbers closer to zero than about 1e-38 do not fit the processor's fast arithmetic and are "
        "computed in a slow way, up to fifty times slower. Weights or gradients that vanish make many of "
        "them. Told to flush them to zero, the processor stays fast, and nothing of value is lost.",
    ),
    names.THROTTLED: Idea(
        "Throttled",
        "A GPU lowers its clock when it gets too hot or would draw more power than allowed. It then "
        "computes more slowly by as much as the clock is lower, whatever the program does.",
    ),
    names.LINK: Idea(
        "Link degraded",
        "The link between host and GPU has a number of lanes and a generation, and sometimes comes up with "
        "fewer: a slot that has only some lanes, a riser, a card that is not firmly seated. Copies take "
        "longer by as much; what is computed on the GPU does not.",
    ),
    names.GPU_SHARED: Idea(
        "GPU shared",
        "Other processes have work or memory on this GPU. Kernels of different processes take turns, so "
        "each slows the other down, and by how much depends on what they do.",
    ),
    names.WRONG_BUILD: Idea(
        "Wrong build",
        "PyTorch comes in builds with and without CUDA. One without trains on the CPU, also where the best "
        "of GPUs is in the machine, and does not complain.",
    ),
    names.MEMORY: Idea(
        "Memory pressure",
        "When memory is nearly full, the allocator has to search and to give memory back again and again, "
        "and the next larger batch fails. On the host the system begins to move memory to the disk, which "
        "is slower by orders of magnitude.",
    ),
    names.NOISY: Idea(
        "Noisy",
        "Steps under the same settings should take the same time. Where they do not, something comes in "
        "between: other programs, a clock that goes up and down, memory that is cleaned up. Small gains "
        "then cannot be told from chance.",
    ),
    names.DRIVER_MODEL: Idea(
        "Windows driver model",
        "Under Windows a GPU that also draws the desktop is driven by a model (WDDM) that collects orders "
        "before it hands them on. Starting a kernel then costs more than under Linux, which networks of "
        "small operations feel.",
    ),
    names.OVERHEAD: Idea(
        "Our own overhead",
        "Watching costs something too: this program's screen takes time of the cores, and asking the driver "
        "takes a lock that training needs. It is counted and shown, so that it is not mistaken for the "
        "training's own.",
    ),
}
"""By the names of `rules.names`."""


def title(name: str) -> str:
    """What to call a bottleneck; a name from a newer recording as it stands."""
    idea = IDEAS.get(name)
    return name if idea is None else idea.title
