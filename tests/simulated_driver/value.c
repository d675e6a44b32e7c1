/* Numbers that change with time (their forms are told in nvml.c), and how far a counter runs at such a rate. */
#define _GNU_SOURCE
#include "value.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const double PI = 3.14159265358979323846;

enum form { NUMBER, RAMP, SINE, SQUARE, AFTER };

struct wave { enum form form; double a, b, c, d; };

static struct wave parse(const char *text)
{
    struct wave wave = {.form = NUMBER, .d = 0.5};
    if (sscanf(text, "ramp %lf %lf", &wave.a, &wave.b) == 2) wave.form = RAMP;
    else if (sscanf(text, "sine %lf %lf %lf", &wave.a, &wave.b, &wave.c) == 3) wave.form = SINE;
    else if (sscanf(text, "square %lf %lf %lf %lf", &wave.a, &wave.b, &wave.c, &wave.d) >= 3)
        wave.form = SQUARE;
    else if (sscanf(text, "after %lf %lf %lf", &wave.c, &wave.b, &wave.a) >= 2) wave.form = AFTER;
    else wave.a = strtod(text, NULL);
    return wave;
}

/* Seconds of the time up to `at_s` in which a square wave was high. */
static double seconds_high(const struct wave *wave, double at_s)
{
    double whole = floor(at_s / wave->c), into = at_s - whole * wave->c, high = wave->c * wave->d;
    return whole * high + fmin(into, high);
}

double value_at(const char *text, double at_s)
{
    struct wave wave = parse(text);
    switch (wave.form) {
    case RAMP: return wave.a + wave.b * at_s;
    case SINE: return wave.a + wave.b * sin(2 * PI * at_s / wave.c);
    case SQUARE: return fmod(at_s, wave.c) < wave.c * wave.d ? wave.b : wave.a;
    case AFTER: return at_s < wave.c ? wave.a : wave.b;
    default: return wave.a;
    }
}

double integral(const char *text, double from_s, double to_s)
{
    struct wave wave = parse(text);
    double span_s = to_s - from_s;
    switch (wave.form) {
    case RAMP: return wave.a * span_s + wave.b * (to_s * to_s - from_s * from_s) / 2;
    case SINE:
        return wave.a * span_s +
               wave.b * wave.c / (2 * PI) * (cos(2 * PI * from_s / wave.c) - cos(2 * PI * to_s / wave.c));
    case SQUARE:
        return wave.a * span_s + (wave.b - wave.a) * (seconds_high(&wave, to_s) - seconds_high(&wave, from_s));
    case AFTER:
        return wave.a * span_s + (wave.b - wave.a) * (fmax(to_s, wave.c) - fmax(from_s, wave.c));
    default: return wave.a * span_s;
    }
}
