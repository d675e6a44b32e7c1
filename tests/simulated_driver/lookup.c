/* The scenario file's entries, read again whenever the file changes. */
#define _GNU_SOURCE
#include "lookup.h"
#include "scenario.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_ENTRIES = 4096, PLACES = 4 * MOST_ENTRIES, LINE = LONGEST_KEY + LONGEST_TEXT };

static struct entry {
    char line[LINE]; /* ends after the key */
    const char *text;
} entries[MOST_ENTRIES];
static int entry_count;
static short places[PLACES]; /* by a key's hash, or the next free one: its entry's number and 1 */
static struct stat read_at;
static double read_s;

/* Where the entry of a key is, or would be. */
static short *place_of(const char *key)
{
    unsigned int hash = 2166136261u;
    for (const char *at = key; *at != '\0'; at++) hash = (hash ^ (unsigned char)*at) * 16777619u;
    for (;; hash++) {
        short *place = &places[hash % PLACES];
        if (*place == 0 || strcmp(entries[*place - 1].line, key) == 0) return place;
    }
}

static bool changed(const struct stat *now)
{
    return now->st_ino != read_at.st_ino || now->st_size != read_at.st_size ||
           now->st_mtim.tv_sec != read_at.st_mtim.tv_sec || now->st_mtim.tv_nsec != read_at.st_mtim.tv_nsec;
}

void scenario_refresh(void)
{
    const char *path = getenv("SIMULATED_DRIVER_SCENARIO");
    struct stat now;
    if (path == NULL || stat(path, &now) != 0 || !changed(&now)) return;
    FILE *file = fopen(path, "r");
    if (file == NULL) return;
    read_at = now;
    read_s = seconds_loaded();
    entry_count = 0;
    memset(places, 0, sizeof places);
    while (entry_count < MOST_ENTRIES && fgets(entries[entry_count].line, LINE, file)) {
        struct entry *entry = &entries[entry_count];
        char *equals = strstr(entry->line, " = ");
        if (equals == NULL) continue;
        entry->line[strcspn(entry->line, "\n")] = '\0';
        *equals = '\0';
        entry->text = equals + 3;
        *place_of(entry->line) = (short)++entry_count;
    }
    fclose(file);
}

double scenario_read_s(void) { return read_s; }

const char *scenario_text(const char *key)
{
    short at = *place_of(key);
    return at == 0 ? NULL : entries[at - 1].text;
}

void scenario_key(int index, const char *key, char *own)
{
    if (index == NO_GPU) snprintf(own, LONGEST_KEY, "%s", key);
    else if (index < MIG_STEP) snprintf(own, LONGEST_KEY, "gpu%d.%s", index, key);
    else snprintf(own, LONGEST_KEY, "gpu%d.mig%d.%s", index % MIG_STEP, index / MIG_STEP - 1, key);
}
