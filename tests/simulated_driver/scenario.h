/* The scenario file: what the simulated GPUs answer, and how each call behaves. */
#ifndef SCENARIO_H
#define SCENARIO_H

#include <stdbool.h>

/* NVML_SUCCESS and NVML_ERROR_* */
enum {
    SUCCESS = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    INSUFFICIENT_SIZE = 7,
    ARGUMENT_VERSION_MISMATCH = 25,
};
enum { NO_GPU = -1 };

typedef int result;
typedef unsigned long long u64;

/* Values of a GPU (or NO_GPU); NOT_SUPPORTED where the scenario has none. */
result whole(int index, const char *key, u64 *value);
result whole32(int index, const char *key, unsigned int *value);
result text(int index, const char *key, char *buffer, unsigned int size);

/* To be called first and last in every function: logs it, hangs or waits as told, and returns what it is
 * to return. */
result enter(const char *function, int index);
void leave(result *unused);
int calls_in_flight(void);

#endif
