/* The scenario file (its form is told in nvml.c): reading it, and the values in it. */
#define _GNU_SOURCE
#include "scenario.h"
#include "lookup.h"
#include "value.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_COUNTERS = 256 };

/* A counter runs on through changes of its rate. */
static struct counter {
    char key[LONGEST_KEY], rate[LONGEST_TEXT];
    double since_s, count;
} counters[MOST_COUNTERS];
static int counter_count;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct timespec loaded_at;

__attribute__((constructor)) static void loaded(void) { clock_gettime(CLOCK_MONOTONIC, &loaded_at); }

double seconds_loaded(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - loaded_at.tv_sec) + 1e-9 * (double)(now.tv_nsec - loaded_at.tv_nsec);
}

static double counted(const char *key, const char *rate)
{
    struct counter *counter = counters;
    struct counter *end = counters + counter_count;
    while (counter < end && strcmp(counter->key, key) != 0) counter++;
    if (counter == end) {
        if (counter_count == MOST_COUNTERS) abort();
        counter_count++;
        snprintf(counter->key, sizeof counter->key, "%s", key);
        snprintf(counter->rate, sizeof counter->rate, "%s", rate);
    }
    if (strcmp(counter->rate, rate) != 0) {
        double changed_s = fmax(scenario_read_s(), counter->since_s);
        counter->count += integral(counter->rate, counter->since_s, changed_s);
        counter->since_s = changed_s;
        snprintf(counter->rate, sizeof counter->rate, "%s", rate);
    }
    return counter->count + integral(rate, counter->since_s, seconds_loaded());
}

/* The text of a key, and the key it was found under; false where the scenario has none. */
static bool find(int index, const char *key, char under[LONGEST_KEY], char found[LONGEST_TEXT])
{
    pthread_mutex_lock(&lock);
    scenario_refresh();
    scenario_key(index, key, under);
    const char *there = scenario_text(under);
    if (there == NULL) there = scenario_text(key);
    if (there != NULL) snprintf(found, LONGEST_TEXT, "%s", there);
    pthread_mutex_unlock(&lock);
    return there != NULL;
}

static u64 rounded(double value)
{
    return value < 9.2e18 ? (u64)llround(value) : (u64)value;
}

/* `counter START RATE` and `counter32 START RATE`; false where it is none of them. */
static bool count(const char *under, const char *found, u64 *value)
{
    double start;
    int rate_at = 0;
    bool narrow = sscanf(found, "counter32 %lf %n", &start, &rate_at) == 1 && rate_at > 0;
    if (!narrow && (sscanf(found, "counter %lf %n", &start, &rate_at) != 1 || rate_at == 0)) return false;
    pthread_mutex_lock(&lock);
    *value = rounded(start + counted(under, found + rate_at));
    pthread_mutex_unlock(&lock);
    if (narrow) *value = (unsigned int)*value;
    return true;
}

/* A plain number keeps all its 64 bits. */
static bool plain(const char *found, u64 *value)
{
    char *end;
    *value = found[0] == '-' ? (u64)strtoll(found, &end, 0) : strtoull(found, &end, 0);
    return end != found && *end == '\0';
}

result whole_at(int index, const char *key, double at_s, u64 *value)
{
    char under[LONGEST_KEY], found[LONGEST_TEXT];
    if (!find(index, key, under, found)) return NOT_SUPPORTED;
    if (!plain(found, value) && !count(under, found, value)) *value = rounded(value_at(found, at_s));
    return SUCCESS;
}

result whole(int index, const char *key, u64 *value)
{
    return whole_at(index, key, seconds_loaded(), value);
}

u64 whole_or(int index, const char *key, u64 otherwise)
{
    u64 value;
    return whole(index, key, &value) == SUCCESS ? value : otherwise;
}

result whole32(int index, const char *key, unsigned int *value)
{
    u64 wide;
    result answer = whole(index, key, &wide);
    if (answer == SUCCESS) *value = (unsigned int)wide;
    return answer;
}

result real(int index, const char *key, double *value)
{
    char under[LONGEST_KEY], found[LONGEST_TEXT];
    if (!find(index, key, under, found)) return NOT_SUPPORTED;
    *value = value_at(found, seconds_loaded());
    return SUCCESS;
}

result mean(int index, const char *key, double from_s, double to_s, double *value)
{
    char under[LONGEST_KEY], found[LONGEST_TEXT];
    if (!find(index, key, under, found)) return NOT_SUPPORTED;
    *value = integral(found, from_s, to_s) / (to_s - from_s);
    return SUCCESS;
}

result text(int index, const char *key, char *buffer, unsigned int size)
{
    char under[LONGEST_KEY], found[LONGEST_TEXT];
    unsigned int length = 0;
    if (!find(index, key, under, found)) return NOT_SUPPORTED;
    for (const char *from = found; *from != '\0';) {
        unsigned int byte;
        if (length + 1 >= size) return INSUFFICIENT_SIZE;
        if (sscanf(from, "\\x%2x", &byte) == 1) from += 4;
        else byte = (unsigned char)*from++;
        buffer[length++] = (char)byte;
    }
    buffer[length] = '\0';
    return SUCCESS;
}
