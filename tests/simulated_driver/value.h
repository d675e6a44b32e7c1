/* The right-hand sides of a scenario: numbers, and numbers that change with time. */
#ifndef VALUE_H
#define VALUE_H

/* What a text says at a time (seconds since the library was loaded). */
double value_at(const char *text, double at_s);

/* The integral of what it says over a span of time: how far a counter runs at that rate. */
double integral(const char *text, double from_s, double to_s);

#endif
