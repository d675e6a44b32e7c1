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
    NOT_FOUND = 6,
    INSUFFICIENT_SIZE = 7,
    TIMEOUT = 10,
    ARGUMENT_VERSION_MISMATCH = 25,
};

/* A GPU is known by its index, the Nth MIG device of a GPU by that of the GPU and MIG_STEP * (N + 1). */
enum { NO_GPU = -1, MIG_STEP = 100, LONGEST_KEY = 112, LONGEST_TEXT = 400 };

typedef int result;
typedef unsigned long long u64;

/* Values of a GPU (or NO_GPU); NOT_SUPPORTED where the scenario has none. */
result whole(int index, const char *key, u64 *value);
result whole32(int index, const char *key, unsigned int *value);
result real(int index, const char *key, double *value);
result text(int index, const char *key, char *buffer, unsigned int size);
/* The number it is, or `otherwise` where the scenario has none. */
u64 whole_or(int index, const char *key, u64 otherwise);
/* Its mean over a span of time, in seconds since the library was loaded. */
result mean(int index, const char *key, double from_s, double to_s, double *value);
result whole_at(int index, const char *key, double at_s, u64 *value);

double seconds_loaded(void);
void sleep_ms(double ms);

/* A call under way. */
struct call {
    const char *function;
    int index;
    double entered_s;
    result answer;
};

/* To be called first and last in every function: logs it, hangs or waits as told, and says what it is to
 * return. */
struct call enter(const char *function, int index);
void leave(struct call *call);
/* Logs a part of a call's answer that is an error of its own. */
void refuse(const char *part, int index, result answer);
int calls_in_flight(void);

#endif
