/* A stand-in for NVIDIA's driver library (libnvidia-ml.so.1), driven by a scenario file.
 *
 * The declarations are written from the ctypes definitions of nvidia-ml-py, its only caller.
 *
 * SIMULATED_DRIVER_SCENARIO names a text file of `key = value` lines, read again whenever it changes.
 * A key that begins with `gpuN.` holds for that GPU alone and goes before the same key without; `gpuN.migM.`
 * is the same for a MIG device.
 *   devices                    how many GPUs there are
 *   driver_version, name ...   what a card answers; a question whose key is missing is "not supported"
 *   <function>.error           the code it returns          (`*.error` for every function)
 *   <function>.delay_ms        how long it takes            (`*.delay_ms`)
 *   <function>.hang = 1        it does not return until this is taken back (`*.hang`)
 * Values are text in which \xNN is a byte, or numbers (t: seconds since the library was loaded):
 *   123, 0x7b, -5, 12.5
 *   ramp START PER_SECOND                START + t * PER_SECOND
 *   sine MEAN AMPLITUDE PERIOD_S
 *   square LOW HIGH PERIOD_S [SHARE]     high in the first SHARE of each period (a half)
 *   after SECONDS VALUE [BEFORE]         BEFORE (0) until then
 *   counter START RATE                   counts up from START by RATE a second, which may be any of these
 *   counter32 START RATE                 the same, going round at 2^32
 * SIMULATED_DRIVER_CALLS names a file that gets a line `seconds function gpu` when a call begins and
 * `seconds function gpu milliseconds answer` when it ends; so does a field that is refused, as `field.N`.
 *
 * Here: the library itself and the ways to a GPU. Single numbers are in numbers.c, structures in structures.c,
 * lists in lists.c, GPM in gpm.c, events in events.c.
 */
#define _GNU_SOURCE
#include "gpu.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

struct handle { int index; bool given; };

static struct handle handles[MOST_MIG_DEVICES + 1][MOST_GPUS];
static atomic_int initialised;

static struct handle *place_of(int index)
{
    return &handles[index / MIG_STEP][index % MIG_STEP];
}

gpu handle_of(int index)
{
    *place_of(index) = (struct handle){index, true};
    return place_of(index);
}

result index_of(gpu device, int *index)
{
    *index = NO_GPU;
    if (device < &handles[0][0] || device > &handles[MOST_MIG_DEVICES][MOST_GPUS - 1]) return INVALID_ARGUMENT;
    if (!device->given || place_of(device->index) != device) return INVALID_ARGUMENT;
    *index = device->index;
    return SUCCESS;
}

bool is_initialised(void) { return initialised > 0; }

/* --- the library ----------------------------------------------------------------------------------- */

result nvmlInitWithFlags(unsigned int flags)
{
    (void)flags;
    ENTER(NO_GPU)
    initialised++;
    return SUCCESS;
}

result nvmlInit_v2(void) { return nvmlInitWithFlags(0); }

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

#define TEXT_OF_SYSTEM(function, key) \
    result function(char *buffer, unsigned int length) \
    { \
        ENTER(NO_GPU) \
        ANSWER(text(NO_GPU, key, buffer, length)); \
    }

#define NUMBER_OF_SYSTEM(function, key) \
    result function(unsigned int *number) \
    { \
        ENTER(NO_GPU) \
        ANSWER(whole32(NO_GPU, key, number)); \
    }

TEXT_OF_SYSTEM(nvmlSystemGetDriverVersion, "driver_version")
TEXT_OF_SYSTEM(nvmlSystemGetNVMLVersion, "nvml_version")
NUMBER_OF_SYSTEM(nvmlSystemGetCudaDriverVersion, "cuda_driver_version")
NUMBER_OF_SYSTEM(nvmlSystemGetCudaDriverVersion_v2, "cuda_driver_version")

/* `process.PID.name`; no longer found where it is missing. */
result nvmlSystemGetProcessName(unsigned int pid, char *buffer, unsigned int length)
{
    char key[LONGEST_KEY];
    ENTER(NO_GPU)
    if (!initialised) ANSWER(UNINITIALIZED);
    snprintf(key, sizeof key, "process.%u.name", pid);
    result answer = text(NO_GPU, key, buffer, length);
    ANSWER(answer == NOT_SUPPORTED ? NOT_FOUND : answer);
}

/* --- ways to a GPU ----------------------------------------------------------------------------------- */

static int device_count(void)
{
    u64 count = whole_or(NO_GPU, "devices", 0);
    return count < MOST_GPUS ? (int)count : MOST_GPUS;
}

result nvmlDeviceGetCount_v2(unsigned int *count)
{
    ENTER(NO_GPU)
    if (!initialised) ANSWER(UNINITIALIZED);
    ANSWER(whole32(NO_GPU, "devices", count));
}

result nvmlDeviceGetHandleByIndex_v2(unsigned int at, gpu *device)
{
    ENTER((int)at)
    if (!initialised) ANSWER(UNINITIALIZED);
    if ((int)at >= device_count()) ANSWER(INVALID_ARGUMENT);
    *device = handle_of((int)at);
    return SUCCESS;
}

static bool has_text(int index, const char *key, const char *wanted)
{
    char found[LONGEST_TEXT];
    return text(index, key, found, sizeof found) == SUCCESS && strcasecmp(found, wanted) == 0;
}

/* The GPU, or the MIG device where they are looked at too, with this text; NO_GPU if there is none. */
static int with_text(const char *key, const char *wanted, bool of_mig)
{
    for (int step = 0; step <= (of_mig ? MOST_MIG_DEVICES : 0); step++)
        for (int at = 0; at < device_count(); at++)
            if (has_text(at + step * MIG_STEP, key, wanted)) return at + step * MIG_STEP;
    return NO_GPU;
}

result nvmlDeviceGetHandleByUUID(const char *uuid, gpu *device)
{
    int index = with_text("uuid", uuid, true);
    ENTER(index)
    if (!initialised) ANSWER(UNINITIALIZED);
    if (index == NO_GPU) ANSWER(NOT_FOUND);
    *device = handle_of(index);
    return SUCCESS;
}

result nvmlDeviceGetHandleByPciBusId_v2(const char *bus_id, gpu *device)
{
    int index = with_text("pci_bus_id", bus_id, false);
    ENTER(index)
    if (!initialised) ANSWER(UNINITIALIZED);
    if (index == NO_GPU) ANSWER(NOT_FOUND);
    *device = handle_of(index);
    return SUCCESS;
}

/* --- MIG devices ------------------------------------------------------------------------------------- */

result nvmlDeviceGetMigDeviceHandleByIndex(gpu device, unsigned int at, gpu *mig_device)
{
    char found[LONGEST_TEXT];
    ENTER_GPU(device)
    int mig = index + MIG_STEP * ((int)at + 1);
    if (index >= MIG_STEP || at >= MOST_MIG_DEVICES) ANSWER(INVALID_ARGUMENT);
    if (text(mig, "uuid", found, sizeof found) != SUCCESS) ANSWER(NOT_FOUND);
    *mig_device = handle_of(mig);
    return SUCCESS;
}

result nvmlDeviceGetDeviceHandleFromMigDeviceHandle(gpu mig_device, gpu *device)
{
    ENTER_GPU(mig_device)
    if (index < MIG_STEP) ANSWER(INVALID_ARGUMENT);
    *device = handle_of(index % MIG_STEP);
    return SUCCESS;
}

result nvmlDeviceIsMigDeviceHandle(gpu device, unsigned int *is_mig)
{
    ENTER_GPU(device)
    *is_mig = index >= MIG_STEP;
    return SUCCESS;
}

result nvmlDeviceGetIndex(gpu device, unsigned int *at)
{
    ENTER_GPU(device)
    *at = (unsigned int)(index < MIG_STEP ? index : index / MIG_STEP - 1);
    return SUCCESS;
}
