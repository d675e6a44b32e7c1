"""Which kind of work an operator or a GPU kernel does, judged by its name."""

from __future__ import annotations

import re
from functools import lru_cache

COPY = "copy"
OPTIMIZER = "optimizer"
OTHER = "other"

_WRAPPERS = re.compile(
    r"^("
    # Look at memory in another way, or make room, without touching what lies in it.
    r"_reshape_alias|_unsafe_view|alias|as_strided|broadcast_tensors|chunk|detach|diagonal|empty|empty_like"
    r"|empty_strided|expand|expand_as|flatten|movedim|narrow|new_empty|new_empty_strided|numpy_T|permute"
    r"|resize|resize_as|resolve_conj|resolve_neg|select|set|slice|split|split_with_sizes|squeeze|t|transpose"
    r"|unbind|unflatten|unfold|unsqueeze|view|view_as"
    # Only call others, which are counted themselves.
    r"|_batch_norm_impl_index|_convolution|_to_copy|adaptive_avg_pool2d|batch_norm|clone|contiguous|conv1d"
    r"|conv2d|conv3d|convolution|cross_entropy_loss|dropout|embedding|embedding_backward|feature_dropout"
    r"|full|full_like|gather_backward|gru|instance_norm|item|layer_norm|linear|log_softmax|lstm|matmul"
    r"|max_pool1d|max_pool2d|new_full|new_ones|new_zeros|nll_loss|nll_loss_nd|ones|ones_like|reshape"
    r"|rnn_relu|rnn_tanh|scalar_tensor|select_backward|softmax|stack|thnn_conv2d|to|zeros|zeros_like"
    # Ask a question, or read a value back.
    r"|_has_compatible_shallow_copy_type|_local_scalar_dense|_nnpack_available|cudnn_is_acceptable"
    r"|is_nonzero|is_pinned|is_same_size|lift_fresh|result_type"
    r")$"
)
"""Operators of PyTorch's own whose time, without that of what they call, is dispatch and no work."""

_COMPILED = ("CompiledFunction", "CompiledFunctionBackward")
"""What torch.compile made: their own time is that of fused loops, which PyTorch does not report by itself,
together with the Python that calls them."""

# In this order: a name may fit several. What is not listed in any is "other".
_OPERATORS = [
    ("recurrence", re.compile(r"lstm|gru|rnn")),
    ("convolution", re.compile(r"conv")),
    ("normalisation", re.compile(r"(batch|layer|group|rms|weight)_norm|local_response")),
    (
        "matmul",
        re.compile(
            r"^_?(mm|bmm|mv|dot|addmm|addbmm|baddbmm|addmv|addr|outer|ger|int_mm)(_|$)|attention|linear"
        ),
    ),
    (
        "reduction",
        re.compile(
            r"^(sum|mean|amax|amin|max|min|argmax|argmin|std|var|prod|all|any|cumsum|topk|sort|median)(_|$)"
            r"|softmax|logsumexp|pool|loss|vector_norm"
        ),
    ),
    (
        COPY,
        re.compile(r"^_?(copy|cat|gather|scatter|index|take|repeat|roll|flip|masked_select|embedding|pad)"),
    ),
    (
        "elementwise",
        re.compile(
            r"^_?(foreach_)?(add|sub|rsub|mul|div|neg|abs|sign|exp|log|sqrt|rsqrt|pow|square|reciprocal|clamp|relu"
            r"|elu|celu|selu|gelu|silu|mish|tanh|sigmoid|hard|leaky|prelu|softplus|threshold|where|lerp|addcmul"
            r"|addcdiv|fill|zero|masked_fill|bernoulli|uniform|normal|native_dropout|random|arange|eq|ne|lt|le"
            r"|gt|ge|bitwise|logical|maximum|minimum|fmod|remainder|floor|ceil|round|trunc|sin|cos|tan|erf)"
        ),
    ),
]

_KERNELS = [
    (
        COPY,
        re.compile(r"^Mem(cpy|set)|direct_copy|nchwToNhwc|nhwcToNchw|CatArray|[Cc]opy_?[Kk]ernel|transpose"),
    ),
    (OPTIMIZER, re.compile(r"multi_tensor_apply|[Ff]used_?(Adam|Sgd|SGD|adam|sgd|Adagrad)")),
    ("recurrence", re.compile(r"lstm|gru_|LSTM|GRU|RNN|rnn")),
    (
        "convolution",
        re.compile(r"conv(?!ert)|fprop|dgrad|wgrad|winograd|im2col|col2im|cudnn.*(fft|engines_precompiled)"),
    ),
    (
        "normalisation",
        re.compile(r"[bB]atch_?[nN]orm|[lL]ayer_?[nN]orm|[gG]roup_?[nN]orm|bn_(fw|bw)|RMSNorm|rms_norm"),
    ),
    (
        "matmul",
        re.compile(
            r"gemm|gemv|gemmk|nvjet|cutlass|cublas|splitK|fmha|flash_(fwd|bwd)|triton_tem|_mm_|dot_kernel"
        ),
    ),
    (
        "reduction",
        re.compile(r"reduce|[sS]oft_?[mM]ax|pool|[nN]ll|Loss|loss|triton_(red|per)|cub::|[sS]ort|[sS]can"),
    ),
    (COPY, re.compile(r"gather|scatter|index|embedding|arange_copy")),
    (
        "elementwise",
        re.compile(r"elementwise|pointwise|triton_poi|dropout|distribution|[fF]ill|where|where_kernel"),
    ),
]

_TENSOR_CORES = re.compile(
    r"tensor_?op|hmma|imma|gmma|nvjet|[hsid]_?884|[hsi]_?1688|_?s?16816|s161616|tensor\d+x\d+x\d+"
    r"|xmma.*(?:bf16|f16|tf32|e4m3|e5m2)|fmha|flash_(?:fwd|bwd)"
)
"""How NVIDIA's libraries name kernels that run on tensor cores: by the instruction's shape or kind."""


@lru_cache(maxsize=4096)
def of_operator(name: str) -> str | None:
    """The kind of a CPU operator's own time; None where that is dispatch and no work."""
    if name in _COMPILED:
        return "elementwise"
    space, _, plain = name.rpartition("::")
    if space in ("autograd::engine", "torch::autograd") or name.startswith("autograd::"):
        return None
    if not space:  # `AddmmBackward0` and its like, `detach`, what the compiler and the loader report.
        return None
    plain = plain.rstrip("_")
    if space == "aten" and _WRAPPERS.match(plain):
        return None
    return next((kind for kind, pattern in _OPERATORS if pattern.search(plain)), OTHER)


@lru_cache(maxsize=4096)
def of_kernel(name: str) -> str:
    """The kind of a GPU kernel, copy or memset."""
    return next((kind for kind, pattern in _KERNELS if pattern.search(name)), OTHER)


@lru_cache(maxsize=4096)
def uses_tensor_cores(name: str) -> bool:
    """Whether a GPU kernel runs on tensor cores."""
    return _TENSOR_CORES.search(name) is not None
