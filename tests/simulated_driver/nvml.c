/* A stand-in for NVIDIA's driver library (libnvidia-ml.so.1), driven by a scenario file.
 *
 * The declarations are written from the ctypes definitions of nvidia-ml-py, its only caller.
 *
 * SIMULATED_DRIVER_SCENARIO names a text file of `key = value` lines, read again whenever it changes.
 * A key that begins with `gpuN.` holds for that GPU alone and goes before the same key without.
 *   devices                    how many GPUs there are
 *   driver_version, name ...   what a card answers; a question whose key is missing is "not supported"
 *   <function>.error           the code it returns          (`*.error` for every function)
 *   <function>.delay_ms        how long it takes            (`*.delay_ms`)
 *   <function>.hang = 1        it does not return until this is taken back (`*.hang`)
 * Values are whole numbers, `ramp START PER_SECOND` (from when the library was loaded), or text in which
 * \xNN is a byte. SIMULATED_DRIVER_CALLS names a file that gets a line `seconds function gpu` per call.
 *
 * A new function: read its value by `whole` or `text` between ENTER and return.
 */
#define _GNU_SOURCE
#include "scenario.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { MOST_GPUS = 16, LONGEST_KEY = 64 };

typedef struct { int index; } *gpu;

static struct { int index; } gpus[MOST_GPUS];
static atomic_int initialised;

/* The number of a GPU by its handle; a handle that was never given out is an invalid argument. */
static result index_of(gpu device, int *index)
{
    for (int at = 0; at < MOST_GPUS; at++)
        if ((void *)device == (void *)&gpus[at] && gpus[at].index == at) {
            *index = at;
            return SUCCESS;
        }
    *index = NO_GPU;
    return INVALID_ARGUMENT;
}

#define ENTER(index) \
    __attribute__((cleanup(leave))) result entered = enter(__func__, index); \
    if (entered != SUCCESS) return entered;

/* Of a function of one GPU: its `index`. */
#define ENTER_GPU(device) \
    int index; \
    result known = index_of(device, &index); \
    ENTER(index) \
    if (!initialised) return UNINITIALIZED; \
    if (known != SUCCESS) return known;

/* --- the library ----------------------------------------------------------------------------------- */

result nvmlInitWithFlags(unsigned int flags)
{
    (void)flags;
    ENTER(NO_GPU)
    initialised++;
    return SUCCESS;
}

result nvmlShutdown(void)
{
    /* The real one crashes when it runs under another call. */
    if (calls_in_flight() > 0) raise(SIGSEGV);
    ENTER(NO_GPU)
    if (initialised > 0) initialised--;
    return SUCCESS;
}

const char *nvmlErrorString(result code)
{
    static char line[48];
    snprintf(line, sizeof line, "simulated error %d", code);
    return line;
}

result nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
    ENTER(NO_GPU)
    return text(NO_GPU, "driver_version", version, length);
}

result nvmlDeviceGetCount_v2(unsigned int *count)
{
    ENTER(NO_GPU)
    if (!initialised) return UNINITIALIZED;
    return whole32(NO_GPU, "devices", count);
}

result nvmlDeviceGetHandleByIndex_v2(unsigned int at, gpu *device)
{
    u64 count = 0;
    ENTER((int)at)
    if (!initialised) return UNINITIALIZED;
    if (whole(NO_GPU, "devices", &count) != SUCCESS || at >= count || at >= MOST_GPUS)
        return INVALID_ARGUMENT;
    gpus[at].index = (int)at;
    *device = (void *)&gpus[at];
    return SUCCESS;
}

/* --- a GPU: text and single numbers ------------------------------------------------------------------ */

#define TEXT_OF(function, key) \
    result function(gpu device, char *buffer, unsigned int length) \
    { \
        ENTER_GPU(device) \
        return text(index, key, buffer, length); \
    }

#define NUMBER_OF(function, key) \
    result function(gpu device, unsigned int *value) \
    { \
        ENTER_GPU(device) \
        return whole32(index, key, value); \
    }

/* `keys` has a place for each value of the argument. */
#define NUMBER_BY(function, ...) \
    result function(gpu device, unsigned int which, unsigned int *value) \
    { \
        static const char *const keys[] = {__VA_ARGS__}; \
        ENTER_GPU(device) \
        if (which >= sizeof keys / sizeof *keys) return INVALID_ARGUMENT; \
        return whole32(index, keys[which], value); \
    }

#define BITS_OF(function, key) \
    result function(gpu device, u64 *bits) \
    { \
        ENTER_GPU(device) \
        return whole(index, key, bits); \
    }

TEXT_OF(nvmlDeviceGetName, "name")
TEXT_OF(nvmlDeviceGetUUID, "uuid")
NUMBER_OF(nvmlDeviceGetPowerUsage, "power_mw")
NUMBER_OF(nvmlDeviceGetEnforcedPowerLimit, "power_limit_mw")
NUMBER_OF(nvmlDeviceGetPowerManagementLimit, "power_management_limit_mw")
NUMBER_OF(nvmlDeviceGetCurrPcieLinkGeneration, "pcie_generation")
NUMBER_OF(nvmlDeviceGetMaxPcieLinkGeneration, "pcie_generation_max")
NUMBER_OF(nvmlDeviceGetGpuMaxPcieLinkGeneration, "pcie_generation_gpu_max")
NUMBER_OF(nvmlDeviceGetCurrPcieLinkWidth, "pcie_width")
NUMBER_OF(nvmlDeviceGetMaxPcieLinkWidth, "pcie_width_max")
NUMBER_BY(nvmlDeviceGetClockInfo, "graphics_clock_mhz", "sm_clock_mhz", "memory_clock_mhz", "video_clock_mhz")
NUMBER_BY(nvmlDeviceGetMaxClockInfo, "graphics_clock_max_mhz", "sm_clock_max_mhz", "memory_clock_max_mhz",
          "video_clock_max_mhz")
NUMBER_BY(nvmlDeviceGetTemperature, "temperature_c")
NUMBER_BY(nvmlDeviceGetPcieThroughput, "pcie_tx_kb_per_s", "pcie_rx_kb_per_s")
BITS_OF(nvmlDeviceGetCurrentClocksEventReasons, "clock_event_reasons")
BITS_OF(nvmlDeviceGetCurrentClocksThrottleReasons, "clock_event_reasons")

/* --- a GPU: structures ------------------------------------------------------------------------------- */

struct utilization { unsigned int gpu, memory; };
struct memory { u64 total, free, used; };
struct memory_v2 { unsigned int version; u64 total, reserved, free, used; };
struct temperature { unsigned int version, sensor; int temperature; };
union value { double d; unsigned int ui; unsigned long ul; u64 ull; long long sll; int si; unsigned short us; };
struct field_value {
    unsigned int field, scope;
    long long timestamp_us, latency_us;
    unsigned int value_type, code;
    union value value;
};

result nvmlDeviceGetUtilizationRates(gpu device, struct utilization *utilization)
{
    ENTER_GPU(device)
    utilization->memory = 0;
    whole32(index, "memory_utilisation_percent", &utilization->memory);
    return whole32(index, "utilisation_percent", &utilization->gpu);
}

/* Version 1 counts as used what the driver reserves for itself. */
result nvmlDeviceGetMemoryInfo(gpu device, struct memory *memory)
{
    u64 reserved = 0;
    ENTER_GPU(device)
    whole(index, "memory_reserved_bytes", &reserved);
    if (whole(index, "memory_total_bytes", &memory->total) != SUCCESS) return NOT_SUPPORTED;
    if (whole(index, "memory_used_bytes", &memory->used) != SUCCESS) return NOT_SUPPORTED;
    memory->used += reserved;
    memory->free = memory->total - memory->used;
    return SUCCESS;
}

result nvmlDeviceGetMemoryInfo_v2(gpu device, struct memory_v2 *memory)
{
    ENTER_GPU(device)
    if (memory->version != (sizeof *memory | 2u << 24)) return ARGUMENT_VERSION_MISMATCH;
    memory->reserved = 0;
    whole(index, "memory_reserved_bytes", &memory->reserved);
    if (whole(index, "memory_total_bytes", &memory->total) != SUCCESS) return NOT_SUPPORTED;
    if (whole(index, "memory_used_bytes", &memory->used) != SUCCESS) return NOT_SUPPORTED;
    memory->free = memory->total - memory->used - memory->reserved;
    return SUCCESS;
}

result nvmlDeviceGetTemperatureV(gpu device, struct temperature *temperature)
{
    u64 value = 0;
    ENTER_GPU(device)
    if (temperature->version != (sizeof *temperature | 1u << 24)) return ARGUMENT_VERSION_MISMATCH;
    result answer = whole(index, "temperature_c", &value);
    temperature->temperature = (int)value;
    return answer;
}

/* `field.N`, `field.N.error` and `field.N.type` (NVML_VALUE_TYPE_*, unsigned long long unless told). */
static unsigned int fill(int index, struct field_value *field)
{
    char key[LONGEST_KEY];
    u64 value = 0, number = 0;
    snprintf(key, sizeof key, "field.%u.error", field->field);
    if (whole(index, key, &number) == SUCCESS && number) return (unsigned int)number;
    snprintf(key, sizeof key, "field.%u", field->field);
    if (whole(index, key, &value) != SUCCESS) return NOT_SUPPORTED;
    snprintf(key, sizeof key, "field.%u.type", field->field);
    field->value_type = whole(index, key, &number) == SUCCESS ? (unsigned int)number : 3;
    memset(&field->value, 0xAB, sizeof field->value); /* so that reading another member shows */
    switch (field->value_type) {
    case 0: field->value.d = (double)value; break;
    case 1: field->value.ui = (unsigned int)value; break;
    case 2: field->value.ul = (unsigned long)value; break;
    case 4: field->value.sll = (long long)value; break;
    case 5: field->value.si = (int)value; break;
    case 6: field->value.us = (unsigned short)value; break;
    default: field->value.ull = value;
    }
    return SUCCESS;
}

result nvmlDeviceGetFieldValues(gpu device, int count, struct field_value *fields)
{
    struct timespec now;
    ENTER_GPU(device)
    clock_gettime(CLOCK_REALTIME, &now);
    for (int at = 0; at < count; at++) {
        fields[at].timestamp_us = (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
        fields[at].code = fill(index, &fields[at]);
    }
    return SUCCESS;
}
