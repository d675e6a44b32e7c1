/* What a GPU answers with a list: its own samples, processes, retired pages. */
#define _GNU_SOURCE
#include "gpu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- the driver's own samples ---------------------------------------------------------------------------- */

enum { SAMPLES_KEPT = 120 };

struct sample { u64 timestamp_us; union { unsigned int ui; u64 ull; double d; } value; };

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* The samples since a time, oldest first: every `samples_per_s`th of a second, as many as are kept. */
static unsigned int samples_since(int index, const char *key, double per_s, u64 since_us, struct sample *samples)
{
    unsigned int count = 0;
    double now = now_s(), began = now - seconds_loaded();
    double last = floor(now * per_s);
    for (double at = last - SAMPLES_KEPT + 1; at <= last; at++) {
        u64 timestamp_us = (u64)(1e6 * at / per_s), value = 0;
        if (timestamp_us <= since_us || at / per_s < began) continue;
        whole_at(index, key, at / per_s - began, &value);
        memset(&samples[count].value, 0xAB, sizeof samples[count].value);
        samples[count].value.ui = (unsigned int)value;
        samples[count++].timestamp_us = timestamp_us;
    }
    return count;
}

/* Of utilisation, where the card has `samples_per_s`. */
result nvmlDeviceGetSamples(gpu device, unsigned int which, u64 since_us, unsigned int *value_type,
                            unsigned int *count, struct sample *samples)
{
    static const char *const keys[] = {"power_mw", "utilisation_percent", "memory_utilisation_percent"};
    struct sample found[SAMPLES_KEPT];
    double per_s;
    u64 any;
    ENTER_GPU(device)
    if (which >= sizeof keys / sizeof *keys || real(index, "samples_per_s", &per_s) != SUCCESS ||
        whole(index, keys[which], &any) != SUCCESS)
        ANSWER(NOT_SUPPORTED);
    *value_type = 1;
    if (samples == NULL) {
        *count = SAMPLES_KEPT;
        return SUCCESS;
    }
    unsigned int available = samples_since(index, keys[which], per_s, since_us, found);
    if (available == 0) ANSWER(NOT_FOUND);
    if (available > *count) ANSWER(INSUFFICIENT_SIZE);
    memcpy(samples, found, available * sizeof *samples);
    *count = available;
    return SUCCESS;
}

/* --- processes ------------------------------------------------------------------------------------------- */

struct process { unsigned int pid; u64 memory_bytes; unsigned int gpu_instance, compute_instance; };
/* What drivers 535.43 to 535.98 wrote in its place. */
struct longer_process { struct process process; u64 protected_bytes; };

/* The next of `PID:BYTES` (`PID:none` where the memory cannot be told) in a text; false after the last. */
static bool next_process(const char **from, struct process *process)
{
    char memory[24];
    int length;
    if (sscanf(*from, " %u:%23s%n", &process->pid, memory, &length) != 2) return false;
    *from += length;
    process->memory_bytes = strcmp(memory, "none") == 0 ? ~0ull : strtoull(memory, NULL, 0);
    process->gpu_instance = process->compute_instance = ~0u;
    return true;
}

static result list_processes(int index, const char *key, bool longer, unsigned int *count, void *processes)
{
    char found[LONGEST_TEXT];
    unsigned int room = *count, there = 0;
    struct process process;
    if (text(index, key, found, sizeof found) != SUCCESS) return NOT_SUPPORTED;
    for (const char *from = found; next_process(&from, &process); there++) {
        if (there >= room || processes == NULL) continue;
        if (longer) ((struct longer_process *)processes)[there] = (struct longer_process){process, 0};
        else ((struct process *)processes)[there] = process;
    }
    *count = there;
    return there > room ? INSUFFICIENT_SIZE : SUCCESS;
}

/* `compute_processes` and `graphics_processes`: a text of `PID:BYTES` each; `process_rows_longer` for the
 * longer rows. */
#define PROCESSES_OF(function, key, version) \
    result function(gpu device, unsigned int *count, void *processes) \
    { \
        ENTER_GPU(device) \
        bool longer = version == 3 && whole_or(index, "process_rows_longer", 0); \
        ANSWER(list_processes(index, key, longer, count, processes)); \
    }

PROCESSES_OF(nvmlDeviceGetComputeRunningProcesses_v2, "compute_processes", 2)
PROCESSES_OF(nvmlDeviceGetComputeRunningProcesses_v3, "compute_processes", 3)
PROCESSES_OF(nvmlDeviceGetGraphicsRunningProcesses_v2, "graphics_processes", 2)
PROCESSES_OF(nvmlDeviceGetGraphicsRunningProcesses_v3, "graphics_processes", 3)
PROCESSES_OF(nvmlDeviceGetMPSComputeRunningProcesses_v2, "mps_processes", 2)
PROCESSES_OF(nvmlDeviceGetMPSComputeRunningProcesses_v3, "mps_processes", 3)

struct process_utilization { unsigned int pid; u64 timestamp_us; unsigned int sm, memory, encoder, decoder; };

/* `process_utilisation`: a text of `PID:PERCENT` each. */
result nvmlDeviceGetProcessUtilization(gpu device, struct process_utilization *rows, unsigned int *count,
                                       u64 since_us)
{
    char found[LONGEST_TEXT];
    unsigned int room = *count, there = 0;
    struct process process;
    ENTER_GPU(device)
    (void)since_us;
    if (text(index, "process_utilisation", found, sizeof found) != SUCCESS) ANSWER(NOT_SUPPORTED);
    for (const char *from = found; next_process(&from, &process); there++) {
        if (rows == NULL || there >= room) continue;
        rows[there] = (struct process_utilization){process.pid, (u64)(1e6 * now_s()),
                                                   (unsigned int)process.memory_bytes, 0, 0, 0};
    }
    *count = there;
    if (there == 0) ANSWER(NOT_FOUND);
    ANSWER(there > room ? INSUFFICIENT_SIZE : SUCCESS);
}

/* --- retired pages --------------------------------------------------------------------------------------- */

/* `retired_pages.CAUSE`: how many. */
result nvmlDeviceGetRetiredPages(gpu device, unsigned int cause, unsigned int *count, u64 *addresses)
{
    char key[LONGEST_KEY];
    u64 retired;
    ENTER_GPU(device)
    snprintf(key, sizeof key, "retired_pages.%u", cause);
    if (whole(index, key, &retired) != SUCCESS) ANSWER(NOT_SUPPORTED);
    unsigned int room = *count;
    *count = (unsigned int)retired;
    if (retired > room) ANSWER(INSUFFICIENT_SIZE);
    for (u64 at = 0; addresses != NULL && at < retired; at++) addresses[at] = (at + 1) << 16;
    return SUCCESS;
}
