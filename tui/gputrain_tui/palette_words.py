"""Other words for what there is: what people type into the palette when they look for it.

Of each entry the palette also knows the id, the key's word and the text that it shows; no need to repeat
those. Upper case, hyphens, dots and underscores do not matter.
"""

from __future__ import annotations

ACTIONS: dict[str, str] = {
    "recordings": "sessions replay history past open load compare",
    "sweep": "benchmark compare batch efficiency grid matrix",
    "help": "keys shortcuts manual glossary words",
    "suspend": "shell background job ctrl z",
    "redraw": "refresh repaint clear screen",
    "quit": "exit close leave program",
    "interrupt": "exit abort kill cancel",
    "sweep_turn": "resume continue pause",
    "sweep_retry": "again failed oom",
    "sweep_start": "run begin go",
    "apply": "faster speed up optimize optimise remedy fix suggestion",
    "undo": "revert back",
    "verdict": "bottleneck diagnosis diagnose profile profiler explain slow analysis",
    "pause": "resume continue stop hold",
    "probe": "peak benchmark bandwidth ceiling roofline flops tflops",
    "record": "save log write json",
    "restart": "start anew reset again reload",
    "gpus": "nvidia smi nvml nvtop devices cards temperature power clocks vram memory",
    "span": "zoom time axis range window minutes hours",
    "view_1": "phases bars timeline throughput",
    "view_2": "host utilisation utilization pcie memory",
    "view_3": "effects history",
    "back": "stop another preset end session",
    "edit": "custom value number",
    "replay": "play open",
    "compare": "diff difference",
}
"""By the id of an action."""

SETTINGS: dict[str, str] = {
    "device": "gpu cuda cpu card accelerator",
    "batch_size": "mini-batch minibatch bs samples per step",
    "model_size": "width depth scale parameters layers larger smaller net network",
    "precision": "dtype amp autocast mixed tensor cores",
    "execution": "compiler jit mode",
    "data_path": "input pipeline h2d copy",
    "workers": "num_workers dataloader processes",
    "models_at_once": "vmap ensemble parallel stack",
    "passes": "direction",
    "threads": "num_threads set_num_threads omp openmp mkl intra-op cores",
    "memory_format": "layout",
    "recurrence": "lstm rnn",
}
"""By the name of a setting."""

VALUES: dict[tuple[str, str], str] = {
    ("precision", "fp32"): "float32 single full",
    ("precision", "tf32"): "tensorfloat allow_tf32",
    ("precision", "bf16"): "bfloat16",
    ("precision", "fp16"): "float16 half gradscaler",
    ("execution", "eager"): "plain off",
    ("execution", "compiled"): "torch.compile inductor",
    ("execution", "graph"): "cuda graph cudagraph capture",
    ("data_path", "loader"): "dataloader",
    ("data_path", "pinned"): "pin_memory non_blocking page-locked",
    ("data_path", "prefetch"): "stream overlap async",
    ("data_path", "resident"): "on gpu device vram preload",
    ("passes", "forward"): "inference eval no_grad",
    ("passes", "training"): "backward",
    ("memory_format", "channels_last"): "nhwc",
    ("memory_format", "channels_first"): "nchw contiguous",
    ("recurrence", "fused"): "cudnn",
    ("recurrence", "stepwise"): "loop unrolled",
}
"""By a setting and its value: words for that value alone."""
