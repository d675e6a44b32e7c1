/* Handles of GPUs and MIG devices, and what every function of one begins with. */
#ifndef GPU_H
#define GPU_H

#include "scenario.h"

#include <stdbool.h>

enum { MOST_GPUS = 16, MOST_MIG_DEVICES = 8 };

typedef struct handle *gpu;

/* The handle of a device by its index (see scenario.h), given out. */
gpu handle_of(int index);

/* The index of a device by its handle; a handle that was never given out is an invalid argument. */
result index_of(gpu device, int *index);

bool is_initialised(void);

/* Ends the call when the function returns, and says in the log what it returned. */
#define ENTER(index) \
    __attribute__((cleanup(leave))) struct call call = enter(__func__, index); \
    if (call.answer != SUCCESS) return call.answer;

#define ANSWER(code) return call.answer = (code)

/* Of a function of one device: its `index`. */
#define ENTER_GPU(device) \
    int index; \
    result known = index_of(device, &index); \
    ENTER(index) \
    if (!is_initialised()) ANSWER(UNINITIALIZED); \
    if (known != SUCCESS) ANSWER(known);

#endif
