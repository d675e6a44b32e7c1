/* The entries of the scenario file. To be used under one lock (scenario.c). */
#ifndef LOOKUP_H
#define LOOKUP_H

/* Read the file again if it has changed. */
void scenario_refresh(void);

/* When that was last done, in seconds since the library was loaded. */
double scenario_read_s(void);

/* The text of a key; NULL where there is none. */
const char *scenario_text(const char *key);

/* The key as a GPU's or a MIG device's own. */
void scenario_key(int index, const char *key, char *own);

#endif
