/* How each call behaves: logged, late, hanging or failing, as the scenario says. */
#define _GNU_SOURCE
#include "scenario.h"

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static atomic_int in_flight;
static pid_t loaded_in;

__attribute__((constructor)) static void loaded(void) { loaded_in = getpid(); }

void sleep_ms(double ms)
{
    struct timespec pause = {(time_t)(ms / 1000), (long)(ms * 1e6) % 1000000000};
    nanosleep(&pause, NULL);
}

static void append(const char *line, int length)
{
    static atomic_int log_file = -1;
    const char *path = getenv("SIMULATED_DRIVER_CALLS");
    if (path == NULL) return;
    if (log_file < 0) log_file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (write(log_file, line, (size_t)length) != length) abort();
}

/* How a function is to behave: its own key, else that for all functions, else 0; of a MIG device, else as
 * its GPU does. */
static double behaviour(const char *function, int index, const char *what)
{
    char key[LONGEST_KEY];
    double value = 0;
    snprintf(key, sizeof key, "%s.%s", function, what);
    if (real(index, key, &value) == SUCCESS) return value;
    snprintf(key, sizeof key, "*.%s", what);
    if (real(index, key, &value) == SUCCESS) return value;
    return index >= MIG_STEP ? behaviour(function, index % MIG_STEP, what) : 0;
}

struct call enter(const char *function, int index)
{
    struct call call = {function, index, seconds_loaded(), SUCCESS};
    char line[LONGEST_KEY];
    if (getpid() != loaded_in) abort(); /* what the real one does in a fork of its process is anyone's guess */
    in_flight++;
    append(line, snprintf(line, sizeof line, "%.6f %s %d\n", call.entered_s, function, index));
    while (behaviour(function, index, "hang") != 0) sleep_ms(10);
    double delay_ms = behaviour(function, index, "delay_ms");
    if (delay_ms > 0) sleep_ms(delay_ms);
    call.answer = (result)behaviour(function, index, "error");
    return call;
}

void leave(struct call *call)
{
    char line[LONGEST_KEY];
    double now_s = seconds_loaded();
    append(line, snprintf(line, sizeof line, "%.6f %s %d %.6f %d\n", now_s, call->function, call->index,
                          1000 * (now_s - call->entered_s), call->answer));
    in_flight--;
}

void refuse(const char *part, int index, result answer)
{
    char line[2 * LONGEST_KEY];
    append(line, snprintf(line, sizeof line, "%.6f %s %d 0 %d\n", seconds_loaded(), part, index, answer));
}

int calls_in_flight(void) { return in_flight; }
