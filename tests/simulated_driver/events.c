/* Events: an Xid error is told once to each set that waits for them. */
#define _GNU_SOURCE
#include "gpu.h"

#include <stdlib.h>
#include <string.h>

static const u64 XID = 8; /* nvmlEventTypeXidCriticalError */

struct event { gpu device; u64 kind, data; unsigned int gpu_instance, compute_instance; };
struct event_set { u64 kinds[MOST_GPUS]; char told[MOST_GPUS][LONGEST_TEXT]; };

result nvmlEventSetCreate(struct event_set **set)
{
    ENTER(NO_GPU)
    if (!is_initialised()) ANSWER(UNINITIALIZED);
    *set = calloc(1, sizeof **set);
    return SUCCESS;
}

result nvmlEventSetFree(struct event_set *set)
{
    ENTER(NO_GPU)
    free(set);
    return SUCCESS;
}

/* Of a GPU whose `event_types` has them. */
result nvmlDeviceRegisterEvents(gpu device, u64 kinds, struct event_set *set)
{
    ENTER_GPU(device)
    if (index >= MIG_STEP || (kinds & ~whole_or(index, "event_types", 0)) != 0) ANSWER(NOT_SUPPORTED);
    set->kinds[index] |= kinds;
    return SUCCESS;
}

/* `xid`: its number; a number with a word after it, as `79 again`, is an error of its own. */
static bool next_event(struct event_set *set, struct event *event)
{
    char xid[LONGEST_TEXT];
    for (int at = 0; at < MOST_GPUS; at++) {
        if (!(set->kinds[at] & XID) || text(at, "xid", xid, sizeof xid) != SUCCESS) continue;
        if (strcmp(xid, set->told[at]) == 0) continue;
        strcpy(set->told[at], xid);
        *event = (struct event){handle_of(at), XID, strtoull(xid, NULL, 0), ~0u, ~0u};
        return true;
    }
    return false;
}

result nvmlEventSetWait_v2(struct event_set *set, struct event *event, unsigned int timeout_ms)
{
    ENTER(NO_GPU)
    double until_s = seconds_loaded() + timeout_ms / 1000.0;
    while (!next_event(set, event)) {
        if (seconds_loaded() >= until_s) ANSWER(TIMEOUT);
        sleep_ms(5);
    }
    return SUCCESS;
}
