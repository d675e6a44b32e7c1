"""From a profiler's events to profiles: recorded by hand, so that every figure is known."""

from __future__ import annotations

import pytest

from gputrain_runner.worker.burst_events import Event, Steps, of_cpu, of_gpu, union_ns

START_NS = 1_700_000_000_000_000_000
US = 1000


def steps(count: int, step_us: int = 1000) -> Steps:
    """Steps whose phases end at 2, 4, 34, 74 and 96 % of them."""
    marks = []
    for index in range(count):
        began = START_NS + index * step_us * US
        marks.append([began + share * step_us * US // 100 for share in (0, 2, 4, 34, 74, 96, 100)])
    return Steps(marks)


class Recorder:
    """Writes events down; times are microseconds since the first step began."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self._correlation = 0

    def call(self, name: str, at_us: float, us: float, thread: int = 1) -> int:
        """Something on the host; its correlation."""
        self._correlation += 1
        self._add(name, at_us, us, False, self._correlation, thread)
        return self._correlation

    def kernel(
        self, name: str, at_us: float, us: float, launched_at_us: float, how: str = "LaunchKernel"
    ) -> None:
        """Something on the GPU, and the call that launched it."""
        self._add(name, at_us, us, True, self.call(f"cuda{how}", launched_at_us, 4.0), 7)

    def _add(self, name: str, at_us: float, us: float, on_gpu: bool, correlation: int, thread: int) -> None:
        start = START_NS + round(at_us * US)
        self.events.append(Event(name, start, start + round(us * US), thread, on_gpu, correlation))


GEMM = "void cutlass::Kernel2<cutlass_80_simt_sgemm_128x64_8x5_tn_align1>"
ADD = "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>>"


def test_a_launch_bound_step_spans_nearly_all_of_it_and_is_hardly_busy() -> None:
    recorder = Recorder()
    for step in range(3):
        for index in range(33):
            # A kernel of 3 us every 28 us: in between the GPU waits for the host.
            at_us = step * 1000 + 35 + index * 28
            recorder.kernel(GEMM if index % 3 else ADD, at_us + 6, 3.0, at_us)
    found = of_gpu(recorder.events, steps(3), step_ms=1.0)
    assert found is not None
    kernels = [event for event in recorder.events if event.on_gpu]
    span_ms = (kernels[32].end_ns - kernels[0].start_ns) / 1e6
    assert span_ms == pytest.approx(0.899)
    assert found.work_ms == pytest.approx(0.099)
    assert found.work_ms / found.step_ms < 0.1 < 0.85 < span_ms / found.step_ms
    assert (found.steps, found.launches, found.launch_calls) == (3, 33, 33)
    assert found.tensor_core_ms == 0
    assert found.sync_count == 0
    assert found.copy_ms == found.copy_exposed_ms == found.copy_bytes == 0


def test_kernels_belong_to_the_phase_that_launched_them() -> None:
    recorder = Recorder()
    # All of it runs long after the host has gone on.
    recorder.kernel(GEMM, 1500, 50, launched_at_us=100)
    recorder.kernel(ADD, 1560, 20, launched_at_us=800)
    recorder.kernel("void at::native::reduce_kernel<512, 1, MeanOps>", 1600, 10, launched_at_us=300)
    found = of_gpu(recorder.events, steps(1), step_ms=1.0)
    assert found is not None
    assert {kind: (work.ms, work.count) for kind, work in found.work.items()} == {
        "matmul": (0.05, 1),
        "optimizer": (0.02, 1),
        "reduction": (0.01, 1),
    }


def test_what_was_launched_before_or_after_the_steps_is_not_theirs() -> None:
    recorder = Recorder()
    recorder.kernel(GEMM, 10, 50, launched_at_us=-20)
    recorder.kernel(GEMM, 990, 50, launched_at_us=500)
    recorder.kernel(GEMM, 1100, 50, launched_at_us=1005)
    found = of_gpu(recorder.events, steps(1), step_ms=1.0)
    assert found is not None
    assert (found.launches, found.work_ms) == (1, 0.05)


def test_a_graph_is_one_launch_of_many_kernels() -> None:
    recorder = Recorder()
    graph = recorder.call("cudaGraphLaunch", 50, 12)
    for index in range(33):
        start = START_NS + (60 + index * 4) * US
        recorder.events.append(Event(ADD, start, start + 3 * US, 7, True, graph))
    found = of_gpu(recorder.events, steps(1, step_us=200), step_ms=0.2)
    assert found is not None
    assert (found.launches, found.launch_calls) == (33, 1)
    assert found.work_ms == pytest.approx(0.099)


def test_copies_behind_kernels_cost_nothing_and_others_are_exposed() -> None:
    recorder = Recorder()
    recorder.kernel("Memcpy HtoD (Pageable -> Device)", 10, 100, 8, how="MemcpyAsync")
    recorder.call("cudaStreamSynchronize", 15, 96)  # Waits for the copy, which is no reading back.
    recorder.kernel(GEMM, 100, 200, 90)  # Of the copy, 90 us were before.
    recorder.kernel("Memcpy HtoD (Pinned -> Device)", 250, 40, 240, how="MemcpyAsync")
    recorder.kernel("Memset (Device)", 320, 5, 310, how="MemsetAsync")
    found = of_gpu(recorder.events, steps(1), step_ms=1.0, batch_bytes=311_296)
    assert found is not None
    assert found.copy_ms == pytest.approx(0.140)
    assert found.copy_exposed_ms == pytest.approx(0.090)
    assert found.copy_bytes == 311_296
    assert found.work_ms == pytest.approx(0.295)
    assert found.work["copy"].count == 3
    assert found.sync_count == 0


def test_reading_a_value_back_is_a_synchronisation() -> None:
    recorder = Recorder()
    for step in range(2):
        at = step * 1000
        recorder.kernel(GEMM, at + 100, 200, at + 90)
        recorder.kernel("Memcpy DtoH (Device -> Pageable)", at + 301, 2, at + 110, how="MemcpyAsync")
        recorder.call("cudaStreamSynchronize", at + 114, 190)
        recorder.call("cudaMemcpyAsync", at + 400, 4)
        recorder.call("cudaEventQuery", at + 410, 4)
    found = of_gpu(recorder.events, steps(2), step_ms=1.0)
    assert found is not None
    assert found.sync_count == 1
    assert found.sync_ms == pytest.approx(0.190)
    assert found.copy_ms == 0


def test_tensor_cores_are_known_by_their_kernels_names() -> None:
    recorder = Recorder()
    recorder.kernel("nvjet_tst_128x256_64x4_1x2_h_bz_coopA_NTN", 100, 60, 90)
    recorder.kernel(
        "sm80_xmma_fprop_implicit_gemm_tf32f32_tf32f32_f32_nhwckrsc_nchw_tensor16x8x8", 200, 40, 95
    )
    recorder.kernel(GEMM, 300, 30, 99)
    found = of_gpu(recorder.events, steps(1), step_ms=1.0)
    assert found is not None
    assert found.tensor_core_ms == pytest.approx(0.1)
    assert set(found.work) == {"matmul", "convolution"}


def test_nothing_seen_on_the_gpu_is_no_profile() -> None:
    recorder = Recorder()
    recorder.call("cudaLaunchKernel", 100, 5)
    assert of_gpu(recorder.events, steps(1), step_ms=1.0) is None
    assert of_cpu([], steps(1), step_ms=1.0) is None


def test_on_a_cpu_operators_count_for_what_they_do_themselves() -> None:
    recorder = Recorder()
    recorder.call("aten::index_select", 5, 8)  # In `data`.
    recorder.call("aten::linear", 50, 110)  # Only calls the next ones.
    recorder.call("aten::t", 52, 6)
    recorder.call("aten::transpose", 53, 3)
    recorder.call("aten::addmm", 60, 100)
    recorder.call("aten::expand", 62, 2)
    recorder.call("aten::copy_", 66, 10)
    recorder.call("autograd::engine::evaluate_function: AddmmBackward0", 400, 90)
    recorder.call("AddmmBackward0", 402, 86)
    recorder.call("aten::mm", 410, 70)
    recorder.call("aten::add_", 800, 20)  # In `optimizer`.
    found = of_cpu(recorder.events, steps(1), step_ms=1.0)
    assert found is not None
    assert {kind: (round(work.ms, 6), work.count) for kind, work in found.work.items()} == {
        "matmul": (0.088 + 0.07, 2),
        "optimizer": (0.02, 1),
        "copy": (0.018, 2),
    }
    assert found.work_ms == pytest.approx(0.196)
    assert found.supply_ms == pytest.approx(0.008)
    assert found.launches == 5
    assert found.copy_ms is found.tensor_core_ms is found.launch_calls is None


def test_what_the_profiler_takes_is_taken_out() -> None:
    recorder = Recorder()
    for index in range(100):
        recorder.call("aten::add", 50 + index * 6, 3)
    slowed = of_cpu(recorder.events, steps(1, step_us=1000), step_ms=0.95)
    assert slowed is not None
    # 50 us more in 100 operators: half of each 0.5 us lies inside the operator.
    assert slowed.work_ms == pytest.approx(0.275)
    assert slowed.step_ms == 0.95
    # Another program slowed down the steps to the double: the shares are still those of a step.
    disturbed = of_cpu(recorder.events, steps(1, step_us=1000), step_ms=0.5)
    assert disturbed is not None
    assert disturbed.work_ms / disturbed.step_ms == pytest.approx(0.25 / 0.9)


def test_one_disturbed_step_does_not_show() -> None:
    recorder = Recorder()
    for step in range(3):
        recorder.call("aten::mm", step * 1000 + 100, 200)
        recorder.call("aten::relu", step * 1000 + 400, 250 if step == 1 else 50)
    found = of_cpu(recorder.events, steps(3), step_ms=1.0)
    assert found is not None
    assert {kind: work.ms for kind, work in found.work.items()} == {"matmul": 0.2, "elementwise": 0.05}


def test_operators_of_several_threads_are_never_more_than_the_step() -> None:
    recorder = Recorder()
    for thread in (1, 2):
        recorder.call("aten::mm", 50, 800, thread)
    found = of_cpu(recorder.events, steps(1), step_ms=1.0)
    assert found is not None
    assert found.work_ms == pytest.approx(1.0)
    assert found.work["matmul"].ms == pytest.approx(1.0)


def test_values_read_back_on_a_cpu_are_counted_but_the_optimizers_own() -> None:
    recorder = Recorder()
    for step in range(2):
        recorder.call("aten::item", step * 1000 + 100, 4)
        recorder.call("aten::_local_scalar_dense", step * 1000 + 101, 2)
        recorder.call("aten::_local_scalar_dense", step * 1000 + 800, 2)
        recorder.call("aten::mm", step * 1000 + 200, 50)
    found = of_cpu(recorder.events, steps(2), step_ms=1.0)
    assert found is not None
    assert (found.sync_count, found.sync_ms) == (1, 0.002)
    assert set(found.work) == {"matmul"}


def test_unions_of_intervals() -> None:
    recorder = Recorder()
    assert union_ns(recorder.events) == 0
    for at_us, until_us in ((5, 9), (0, 3), (2, 4), (6, 7)):
        recorder.call("cudaLaunchKernel", at_us, until_us - at_us)
    assert union_ns(recorder.events) == 8 * US
