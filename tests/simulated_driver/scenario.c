/* The scenario file (its form is told in nvml.c): reading it, and behaving as it says. */
#define _GNU_SOURCE
#include "scenario.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { MOST_ENTRIES = 2048, LINE = 256, LONGEST_KEY = 96 };

static struct { char line[LINE]; const char *text; } entries[MOST_ENTRIES]; /* the line ends after its key */
static int entry_count;
static struct stat read_at;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct timespec loaded_at;
static atomic_int in_flight;

__attribute__((constructor)) static void loaded(void) { clock_gettime(CLOCK_MONOTONIC, &loaded_at); }

static double seconds_loaded(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - loaded_at.tv_sec) + 1e-9 * (double)(now.tv_nsec - loaded_at.tv_nsec);
}

static bool changed(const struct stat *now)
{
    return now->st_ino != read_at.st_ino || now->st_size != read_at.st_size ||
           now->st_mtim.tv_sec != read_at.st_mtim.tv_sec || now->st_mtim.tv_nsec != read_at.st_mtim.tv_nsec;
}

/* Read the file again if it has changed. */
static void refresh(void)
{
    const char *path = getenv("SIMULATED_DRIVER_SCENARIO");
    struct stat now;
    if (path == NULL || stat(path, &now) != 0 || !changed(&now)) return;
    FILE *file = fopen(path, "r");
    if (file == NULL) return;
    read_at = now;
    entry_count = 0;
    while (entry_count < MOST_ENTRIES && fgets(entries[entry_count].line, LINE, file)) {
        char *line = entries[entry_count].line;
        char *equals = strstr(line, " = ");
        if (equals == NULL) continue;
        line[strcspn(line, "\n")] = '\0';
        *equals = '\0';
        entries[entry_count++].text = equals + 3;
    }
    fclose(file);
}

static const char *look_up(const char *key)
{
    for (int at = 0; at < entry_count; at++)
        if (strcmp(entries[at].line, key) == 0) return entries[at].text;
    return NULL;
}

/* The text of a key; false where the scenario has none. */
static bool scenario(int index, const char *key, char found[LINE])
{
    char own[LONGEST_KEY + 16];
    snprintf(own, sizeof own, "gpu%d.%s", index, key);
    pthread_mutex_lock(&lock);
    const char *there = index == NO_GPU ? NULL : look_up(own);
    if (there == NULL) there = look_up(key);
    if (there != NULL) snprintf(found, LINE, "%s", there);
    pthread_mutex_unlock(&lock);
    return there != NULL;
}

static u64 evaluate(const char *text)
{
    double start, per_second;
    if (sscanf(text, "ramp %lf %lf", &start, &per_second) == 2)
        return (u64)(start + per_second * seconds_loaded());
    return text[0] == '-' ? (u64)strtoll(text, NULL, 0) : strtoull(text, NULL, 0);
}

result whole(int index, const char *key, u64 *value)
{
    char found[LINE];
    if (!scenario(index, key, found)) return NOT_SUPPORTED;
    *value = evaluate(found);
    return SUCCESS;
}

result whole32(int index, const char *key, unsigned int *value)
{
    u64 wide;
    result answer = whole(index, key, &wide);
    if (answer == SUCCESS) *value = (unsigned int)wide;
    return answer;
}

result text(int index, const char *key, char *buffer, unsigned int size)
{
    char found[LINE];
    unsigned int length = 0;
    if (!scenario(index, key, found)) return NOT_SUPPORTED;
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

static void log_call(const char *function, int index)
{
    static atomic_int log_file = -1;
    const char *path = getenv("SIMULATED_DRIVER_CALLS");
    if (path == NULL) return;
    if (log_file < 0) log_file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    char line[LINE];
    int length = snprintf(line, sizeof line, "%.6f %s %d\n", seconds_loaded(), function, index);
    if (write(log_file, line, (size_t)length) != length) abort();
}

static void sleep_ms(u64 ms)
{
    struct timespec pause = {(time_t)(ms / 1000), (long)(ms % 1000) * 1000000};
    nanosleep(&pause, NULL);
}

/* How a function is to behave: its own key, else that for all functions, else 0. */
static u64 behaviour(const char *function, int index, const char *what)
{
    char key[LONGEST_KEY];
    u64 value = 0;
    snprintf(key, sizeof key, "%s.%s", function, what);
    if (whole(index, key, &value) == SUCCESS) return value;
    snprintf(key, sizeof key, "*.%s", what);
    return whole(index, key, &value) == SUCCESS ? value : 0;
}

static bool hangs(const char *function, int index)
{
    pthread_mutex_lock(&lock);
    refresh();
    pthread_mutex_unlock(&lock);
    return behaviour(function, index, "hang") != 0;
}

result enter(const char *function, int index)
{
    in_flight++;
    log_call(function, index);
    while (hangs(function, index)) sleep_ms(10);
    u64 delay_ms = behaviour(function, index, "delay_ms");
    if (delay_ms > 0) sleep_ms(delay_ms);
    return (result)behaviour(function, index, "error");
}

void leave(result *unused)
{
    (void)unused;
    in_flight--;
}

int calls_in_flight(void) { return in_flight; }
