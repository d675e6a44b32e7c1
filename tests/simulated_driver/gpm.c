/* GPM: what the card counted between two samples that the caller holds. */
#define _GNU_SOURCE
#include "gpu.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static const double SHORTEST_S = 0.1; /* over less the real one tells 0 */

struct sample { int index; double at_s; bool taken; };
struct support { unsigned int version, supported; };
struct metric {
    unsigned int id, code;
    double value;
    const char *short_name, *long_name, *unit;
};
struct metrics_get {
    unsigned int version, count;
    struct sample *first, *second;
    struct metric metrics[];
};

static atomic_int inside;

static void step_out(int *unused)
{
    (void)unused;
    inside--;
}

/* The real one crashes when two threads are in it. */
#define ALONE \
    __attribute__((cleanup(step_out), unused)) int was_inside = inside++; \
    if (was_inside > 0) raise(SIGSEGV);

/* `gpm` = 1 where the card has it. */
result nvmlGpmQueryDeviceSupport(gpu device, struct support *support)
{
    ALONE
    ENTER_GPU(device)
    if (support->version != 1) ANSWER(ARGUMENT_VERSION_MISMATCH);
    ANSWER(whole32(index % MIG_STEP, "gpm", &support->supported));
}

result nvmlGpmSampleAlloc(struct sample **sample)
{
    ENTER(NO_GPU)
    *sample = calloc(1, sizeof **sample);
    return SUCCESS;
}

result nvmlGpmSampleFree(struct sample *sample)
{
    ENTER(NO_GPU)
    free(sample);
    return SUCCESS;
}

static result take(int index, struct sample *sample)
{
    if (sample == NULL) return INVALID_ARGUMENT;
    if (!whole_or(index % MIG_STEP, "gpm", 0)) return NOT_SUPPORTED;
    *sample = (struct sample){index, seconds_loaded(), true};
    return SUCCESS;
}

result nvmlGpmSampleGet(gpu device, struct sample *sample)
{
    ALONE
    ENTER_GPU(device)
    ANSWER(take(index, sample));
}

result nvmlGpmMigSampleGet(gpu device, unsigned int gpu_instance, struct sample *sample)
{
    ALONE
    ENTER_GPU(device)
    for (int at = 0; at < MOST_MIG_DEVICES; at++) {
        int mig = index % MIG_STEP + MIG_STEP * (at + 1);
        if (whole_or(mig, "gpu_instance", ~0ull) == gpu_instance) ANSWER(take(mig, sample));
    }
    ANSWER(INVALID_ARGUMENT);
}

/* `gpm.N` (the mean between the samples) and `gpm.N.error`. */
static unsigned int measure(const struct sample *first, const struct sample *second, struct metric *metric)
{
    char key[LONGEST_KEY];
    snprintf(key, sizeof key, "gpm.%u.error", metric->id);
    unsigned int error = (unsigned int)whole_or(first->index, key, 0);
    if (error != SUCCESS) return error;
    snprintf(key, sizeof key, "gpm.%u", metric->id);
    result answer = mean(first->index, key, first->at_s, second->at_s, &metric->value);
    if (second->at_s - first->at_s < SHORTEST_S) metric->value = 0;
    metric->short_name = metric->long_name = metric->unit = "simulated";
    return (unsigned int)answer;
}

result nvmlGpmMetricsGet(struct metrics_get *get)
{
    ALONE
    ENTER(get->first == NULL ? NO_GPU : get->first->index)
    if (get->version != 1) ANSWER(ARGUMENT_VERSION_MISMATCH);
    if (get->first == NULL || get->second == NULL) ANSWER(INVALID_ARGUMENT);
    if (!get->first->taken || !get->second->taken || get->first->index != get->second->index ||
        get->second->at_s <= get->first->at_s)
        ANSWER(INVALID_ARGUMENT);
    for (unsigned int at = 0; at < get->count; at++)
        get->metrics[at].code = measure(get->first, get->second, &get->metrics[at]);
    return SUCCESS;
}
