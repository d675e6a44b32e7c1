/* What a GPU answers with a structure. */
#define _GNU_SOURCE
#include "gpu.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

struct utilization { unsigned int gpu, memory; };
struct memory { u64 total, free, used; };
struct memory_v2 { unsigned int version; u64 total, reserved, free, used; };
struct bar1 { u64 total, free, used; };
struct temperature { unsigned int version, sensor; int temperature; };
struct pci {
    char bus_id_legacy[16];
    unsigned int domain, bus, device, device_id, subsystem_id;
    char bus_id[32];
};
struct addressing { unsigned int version, mode; };
struct attributes {
    unsigned int multiprocessors, copy_engines, decoders, encoders, jpeg, ofa, gpu_slices, compute_slices;
    u64 memory_mb;
};
struct violation { u64 reference_ns, violation_ns; };
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
    utilization->memory = (unsigned int)whole_or(index, "memory_utilisation_percent", 0);
    ANSWER(whole32(index, "utilisation_percent", &utilization->gpu));
}

/* Version 1 counts as used what the driver reserves for itself. */
result nvmlDeviceGetMemoryInfo(gpu device, struct memory *memory)
{
    ENTER_GPU(device)
    if (whole(index, "memory_total_bytes", &memory->total) != SUCCESS) ANSWER(NOT_SUPPORTED);
    if (whole(index, "memory_used_bytes", &memory->used) != SUCCESS) ANSWER(NOT_SUPPORTED);
    memory->used += whole_or(index, "memory_reserved_bytes", 0);
    memory->free = memory->total - memory->used;
    return SUCCESS;
}

result nvmlDeviceGetMemoryInfo_v2(gpu device, struct memory_v2 *memory)
{
    ENTER_GPU(device)
    if (memory->version != (sizeof *memory | 2u << 24)) ANSWER(ARGUMENT_VERSION_MISMATCH);
    memory->reserved = whole_or(index, "memory_reserved_bytes", 0);
    if (whole(index, "memory_total_bytes", &memory->total) != SUCCESS) ANSWER(NOT_SUPPORTED);
    if (whole(index, "memory_used_bytes", &memory->used) != SUCCESS) ANSWER(NOT_SUPPORTED);
    memory->free = memory->total - memory->used - memory->reserved;
    return SUCCESS;
}

result nvmlDeviceGetBAR1MemoryInfo(gpu device, struct bar1 *bar1)
{
    ENTER_GPU(device)
    if (whole(index, "bar1_total_bytes", &bar1->total) != SUCCESS) ANSWER(NOT_SUPPORTED);
    bar1->used = whole_or(index, "bar1_used_bytes", 0);
    bar1->free = bar1->total - bar1->used;
    return SUCCESS;
}

result nvmlDeviceGetTemperatureV(gpu device, struct temperature *temperature)
{
    u64 value = 0;
    ENTER_GPU(device)
    if (temperature->version != (sizeof *temperature | 1u << 24)) ANSWER(ARGUMENT_VERSION_MISMATCH);
    result answer = whole(index, "temperature_c", &value);
    temperature->temperature = (int)value;
    ANSWER(answer);
}

result nvmlDeviceGetPciInfo_v3(gpu device, struct pci *pci)
{
    ENTER_GPU(device)
    memset(pci, 0, sizeof *pci);
    if (text(index, "pci_bus_id", pci->bus_id, sizeof pci->bus_id) != SUCCESS) ANSWER(NOT_SUPPORTED);
    if (sscanf(pci->bus_id, "%x:%x:%x", &pci->domain, &pci->bus, &pci->device) != 3) ANSWER(INVALID_ARGUMENT);
    snprintf(pci->bus_id_legacy, sizeof pci->bus_id_legacy, "%04x:%02x:%02x.0", pci->domain & 0xFFFF,
             pci->bus & 0xFF, pci->device & 0xFF);
    pci->device_id = (unsigned int)whole_or(index, "pci_device_id", 0x233010DE);
    pci->subsystem_id = (unsigned int)whole_or(index, "pci_subsystem_id", 0x16C110DE);
    return SUCCESS;
}

result nvmlDeviceGetAddressingMode(gpu device, struct addressing *addressing)
{
    ENTER_GPU(device)
    if (addressing->version != (sizeof *addressing | 1u << 24)) ANSWER(ARGUMENT_VERSION_MISMATCH);
    ANSWER(whole32(index, "addressing_mode", &addressing->mode));
}

result nvmlDeviceGetAttributes_v2(gpu device, struct attributes *attributes)
{
    u64 total;
    ENTER_GPU(device)
    if (index < MIG_STEP || whole(index, "memory_total_bytes", &total) != SUCCESS) ANSWER(NOT_SUPPORTED);
    *attributes = (struct attributes){
        .multiprocessors = (unsigned int)whole_or(index, "multiprocessors", 0),
        .gpu_slices = (unsigned int)whole_or(index, "gpu_slices", 1),
        .compute_slices = (unsigned int)whole_or(index, "compute_slices", 1),
        .memory_mb = total >> 20,
    };
    return SUCCESS;
}

/* `violation.POLICY`, nanoseconds since the library was loaded. */
result nvmlDeviceGetViolationStatus(gpu device, unsigned int policy, struct violation *violation)
{
    char key[LONGEST_KEY];
    ENTER_GPU(device)
    snprintf(key, sizeof key, "violation.%u", policy);
    violation->reference_ns = (u64)(1e9 * seconds_loaded());
    ANSWER(whole(index, key, &violation->violation_ns));
}

/* `nvlink.LINK.rx` and `nvlink.LINK.tx`. */
result nvmlDeviceGetNvLinkUtilizationCounter(gpu device, unsigned int link, unsigned int counter, u64 *rx, u64 *tx)
{
    char key[LONGEST_KEY];
    ENTER_GPU(device)
    (void)counter;
    snprintf(key, sizeof key, "nvlink.%u.rx", link);
    if (whole(index, key, rx) != SUCCESS) ANSWER(NOT_SUPPORTED);
    snprintf(key, sizeof key, "nvlink.%u.tx", link);
    ANSWER(whole(index, key, tx));
}

static void put(union value *value, unsigned int type, u64 number)
{
    memset(value, 0xAB, sizeof *value); /* so that reading another member shows */
    switch (type) {
    case 0: value->d = (double)number; break;
    case 1: value->ui = (unsigned int)number; break;
    case 2: value->ul = (unsigned long)number; break;
    case 4: value->sll = (long long)number; break;
    case 5: value->si = (int)number; break;
    case 6: value->us = (unsigned short)number; break;
    default: value->ull = number;
    }
}

/* `field.N` (of a scope, as of a link: `field.N.scope.S`), `field.N.error` and `field.N.type`
 * (NVML_VALUE_TYPE_*, unsigned long long unless told). */
static unsigned int fill(int index, struct field_value *field)
{
    char key[LONGEST_KEY];
    u64 value = 0;
    snprintf(key, sizeof key, "field.%u.error", field->field);
    unsigned int error = (unsigned int)whole_or(index, key, 0);
    if (error != SUCCESS) return error;
    snprintf(key, sizeof key, "field.%u.scope.%u", field->field, field->scope);
    if (whole(index, key, &value) != SUCCESS) {
        snprintf(key, sizeof key, "field.%u", field->field);
        if (whole(index, key, &value) != SUCCESS) return NOT_SUPPORTED;
    }
    snprintf(key, sizeof key, "field.%u.type", field->field);
    field->value_type = (unsigned int)whole_or(index, key, 3);
    put(&field->value, field->value_type, value);
    return SUCCESS;
}

result nvmlDeviceGetFieldValues(gpu device, int count, struct field_value *fields)
{
    struct timespec now;
    char part[LONGEST_KEY];
    bool scoped = false;
    ENTER_GPU(device)
    clock_gettime(CLOCK_REALTIME, &now);
    for (int at = 0; at < count; at++) {
        fields[at].timestamp_us = (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000;
        fields[at].code = fill(index, &fields[at]);
        scoped = scoped || fields[at].scope != 0;
        snprintf(part, sizeof part, "field.%u", fields[at].field);
        if (fields[at].code != SUCCESS) refuse(part, index, (result)fields[at].code);
    }
    /* Seen of real ones: an entry more than there is room for, after fields of a link. */
    if (scoped && whole_or(index, "fields_overrun", 0)) memset(&fields[count], 0xAB, sizeof *fields);
    return SUCCESS;
}
