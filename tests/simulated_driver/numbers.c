/* What a GPU answers with one text or a few numbers. */
#define _GNU_SOURCE
#include "gpu.h"

#include <stdio.h>

#define TEXT_OF(function, key) \
    result function(gpu device, char *buffer, unsigned int length) \
    { \
        ENTER_GPU(device) \
        ANSWER(text(index, key, buffer, length)); \
    }

#define NUMBER_OF(function, key) \
    result function(gpu device, unsigned int *value) \
    { \
        ENTER_GPU(device) \
        ANSWER(whole32(index, key, value)); \
    }

/* Of 64 bits. */
#define WIDE_OF(function, key) \
    result function(gpu device, u64 *value) \
    { \
        ENTER_GPU(device) \
        ANSWER(whole(index, key, value)); \
    }

/* The state now and after the next restart: the same unless the scenario says otherwise. */
#define STATE_OF(function, key) \
    result function(gpu device, unsigned int *current, unsigned int *pending) \
    { \
        ENTER_GPU(device) \
        if (whole32(index, key, current) != SUCCESS) ANSWER(NOT_SUPPORTED); \
        *pending = (unsigned int)whole_or(index, key "_pending", *current); \
        return SUCCESS; \
    }

/* A number per value of the argument, which has a key each. */
#define NUMBER_BY(function, ...) \
    result function(gpu device, unsigned int which, unsigned int *value) \
    { \
        static const char *const keys[] = {__VA_ARGS__}; \
        ENTER_GPU(device) \
        if (which >= sizeof keys / sizeof *keys) ANSWER(INVALID_ARGUMENT); \
        ANSWER(whole32(index, keys[which], value)); \
    }

/* A number per value of the argument, which is in the key. */
#define NUMBER_AT(function, format) \
    result function(gpu device, unsigned int at, unsigned int *value) \
    { \
        char key[LONGEST_KEY]; \
        ENTER_GPU(device) \
        snprintf(key, sizeof key, format, at); \
        ANSWER(whole32(index, key, value)); \
    }

TEXT_OF(nvmlDeviceGetName, "name")
TEXT_OF(nvmlDeviceGetUUID, "uuid")
TEXT_OF(nvmlDeviceGetSerial, "serial")
TEXT_OF(nvmlDeviceGetVbiosVersion, "vbios_version")
NUMBER_OF(nvmlDeviceGetBrand, "brand")
NUMBER_OF(nvmlDeviceGetArchitecture, "architecture")
NUMBER_OF(nvmlDeviceGetMinorNumber, "minor_number")
NUMBER_OF(nvmlDeviceGetNumGpuCores, "cores")
NUMBER_OF(nvmlDeviceGetMemoryBusWidth, "memory_bus_bits")
NUMBER_OF(nvmlDeviceGetPowerUsage, "power_mw")
NUMBER_OF(nvmlDeviceGetEnforcedPowerLimit, "power_limit_mw")
NUMBER_OF(nvmlDeviceGetPowerManagementLimit, "power_management_limit_mw")
NUMBER_OF(nvmlDeviceGetPowerManagementDefaultLimit, "power_default_limit_mw")
NUMBER_OF(nvmlDeviceGetPowerManagementMode, "power_management_mode")
NUMBER_OF(nvmlDeviceGetCurrPcieLinkGeneration, "pcie_generation")
NUMBER_OF(nvmlDeviceGetMaxPcieLinkGeneration, "pcie_generation_max")
NUMBER_OF(nvmlDeviceGetGpuMaxPcieLinkGeneration, "pcie_generation_gpu_max")
NUMBER_OF(nvmlDeviceGetCurrPcieLinkWidth, "pcie_width")
NUMBER_OF(nvmlDeviceGetMaxPcieLinkWidth, "pcie_width_max")
NUMBER_OF(nvmlDeviceGetPcieSpeed, "pcie_speed_mbit_per_s")
NUMBER_OF(nvmlDeviceGetPcieLinkMaxSpeed, "pcie_speed_max")
NUMBER_OF(nvmlDeviceGetPcieReplayCounter, "pcie_replays")
NUMBER_OF(nvmlDeviceGetFanSpeed, "fan_percent")
NUMBER_OF(nvmlDeviceGetNumFans, "fans")
NUMBER_OF(nvmlDeviceGetPerformanceState, "performance_state")
NUMBER_OF(nvmlDeviceGetPowerState, "performance_state")
NUMBER_OF(nvmlDeviceGetPersistenceMode, "persistence_mode")
NUMBER_OF(nvmlDeviceGetComputeMode, "compute_mode")
NUMBER_OF(nvmlDeviceGetDisplayMode, "display_mode")
NUMBER_OF(nvmlDeviceGetDisplayActive, "display_active")
NUMBER_OF(nvmlDeviceGetVirtualizationMode, "virtualization_mode")
NUMBER_OF(nvmlDeviceGetMaxMigDeviceCount, "mig_devices_max")
NUMBER_OF(nvmlDeviceGetGpuInstanceId, "gpu_instance")
NUMBER_OF(nvmlDeviceGetComputeInstanceId, "compute_instance")
NUMBER_OF(nvmlDeviceGetRetiredPagesPendingStatus, "retired_pages_pending")
NUMBER_OF(nvmlGpmQueryIfStreamingEnabled, "gpm_streaming")
NUMBER_BY(nvmlDeviceGetClockInfo, "graphics_clock_mhz", "sm_clock_mhz", "memory_clock_mhz", "video_clock_mhz")
NUMBER_BY(nvmlDeviceGetMaxClockInfo, "graphics_clock_max_mhz", "sm_clock_max_mhz", "memory_clock_max_mhz",
          "video_clock_max_mhz")
NUMBER_BY(nvmlDeviceGetApplicationsClock, "graphics_clock_set_mhz", "sm_clock_set_mhz", "memory_clock_set_mhz")
NUMBER_BY(nvmlDeviceGetTemperature, "temperature_c")
NUMBER_BY(nvmlDeviceGetTemperatureThreshold, "temperature_shutdown_c", "temperature_slowdown_c",
          "temperature_memory_max_c", "temperature_gpu_max_c")
NUMBER_BY(nvmlDeviceGetPcieThroughput, "pcie_tx_kb_per_s", "pcie_rx_kb_per_s")
NUMBER_BY(nvmlDeviceGetFanSpeed_v2, "fan_percent", "fan_percent_1", "fan_percent_2")
NUMBER_AT(nvmlDeviceGetNvLinkState, "nvlink.%u.state")
NUMBER_AT(nvmlDeviceGetNvLinkVersion, "nvlink.%u.version")
WIDE_OF(nvmlDeviceGetCurrentClocksEventReasons, "clock_event_reasons")
WIDE_OF(nvmlDeviceGetCurrentClocksThrottleReasons, "clock_event_reasons")
WIDE_OF(nvmlDeviceGetSupportedClocksEventReasons, "clock_event_reasons_supported")
WIDE_OF(nvmlDeviceGetSupportedClocksThrottleReasons, "clock_event_reasons_supported")
WIDE_OF(nvmlDeviceGetTotalEnergyConsumption, "energy_mj")
WIDE_OF(nvmlDeviceGetSupportedEventTypes, "event_types")
STATE_OF(nvmlDeviceGetEccMode, "ecc_mode")
STATE_OF(nvmlDeviceGetMigMode, "mig_mode")
STATE_OF(nvmlDeviceGetDriverModel, "driver_model")
STATE_OF(nvmlDeviceGetDriverModel_v2, "driver_model")

result nvmlDeviceGetCudaComputeCapability(gpu device, int *major, int *minor)
{
    char found[LONGEST_TEXT];
    ENTER_GPU(device)
    result answer = text(index, "compute_capability", found, sizeof found);
    if (answer == SUCCESS && sscanf(found, "%d.%d", major, minor) != 2) answer = INVALID_ARGUMENT;
    ANSWER(answer);
}

result nvmlDeviceGetPowerManagementLimitConstraints(gpu device, unsigned int *least, unsigned int *most)
{
    ENTER_GPU(device)
    if (whole32(index, "power_limit_least_mw", least) != SUCCESS) ANSWER(NOT_SUPPORTED);
    ANSWER(whole32(index, "power_limit_most_mw", most));
}

static const char *const KINDS[] = {"corrected", "uncorrected"};
static const char *const COUNTERS[] = {"volatile", "aggregate"};

/* `ecc.corrected.volatile` and its like. */
result nvmlDeviceGetTotalEccErrors(gpu device, unsigned int kind, unsigned int counter, u64 *count)
{
    char key[LONGEST_KEY];
    ENTER_GPU(device)
    if (kind > 1 || counter > 1) ANSWER(INVALID_ARGUMENT);
    snprintf(key, sizeof key, "ecc.%s.%s", KINDS[kind], COUNTERS[counter]);
    ANSWER(whole(index, key, count));
}

/* `ecc.corrected.volatile.LOCATION` and its like. */
result nvmlDeviceGetMemoryErrorCounter(gpu device, unsigned int kind, unsigned int counter, unsigned int location,
                                       u64 *count)
{
    char key[LONGEST_KEY];
    ENTER_GPU(device)
    if (kind > 1 || counter > 1) ANSWER(INVALID_ARGUMENT);
    snprintf(key, sizeof key, "ecc.%s.%s.%u", KINDS[kind], COUNTERS[counter], location);
    ANSWER(whole(index, key, count));
}

result nvmlDeviceGetRemappedRows(gpu device, unsigned int *corrected, unsigned int *uncorrected,
                                 unsigned int *pending, unsigned int *failed)
{
    ENTER_GPU(device)
    if (whole32(index, "remapped_rows_uncorrected", uncorrected) != SUCCESS) ANSWER(NOT_SUPPORTED);
    *corrected = (unsigned int)whole_or(index, "remapped_rows_corrected", 0);
    *pending = (unsigned int)whole_or(index, "remapped_rows_pending", 0);
    *failed = (unsigned int)whole_or(index, "remapped_rows_failed", 0);
    return SUCCESS;
}
