/* See trust_shown.h. */
#include "cmd/trust_shown.h"

#include "base/csv.h"
#include "base/show.h"
#include "cmd/cli.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- text ---- */

const char *as_trust_about(const char *name)
{
    for (size_t i = 0; i < as_trust_experiments_count; i++)
        if (strcmp(as_trust_experiments[i].name, name) == 0)
            return as_trust_experiments[i].about;
    return "";
}

static void print_number(FILE *out, double value, enum as_trust_unit unit)
{
    if (isnan(value))
        fprintf(out, " %11s", "");
    else if (unit == AS_TRUST_SHARE)
        fprintf(out, " %9.2f %%", 100 * value);
    else if (unit == AS_TRUST_BYTES)
        fprintf(out, " %7s KiB", AS_COUNT((uint64_t)(value / 1024 + 0.5)));
    else if (value < 1000) /* a mean, of which an error is told: with its tenths */
        fprintf(out, " %11.1f", value);
    else
        fprintf(out, " %11s", AS_COUNT((uint64_t)(value + 0.5)));
}

static void print_percent(FILE *out, double value, bool sign)
{
    if (isnan(value))
        fprintf(out, " %10s", "");
    else
        fprintf(out, sign ? " %+8.2f %%" : " %8.2f %%", 100 * value);
}

static void print_row(const struct as_trust_row *row, FILE *out)
{
    fprintf(out, "  %-26s %-41s", row->what, row->setting);
    print_number(out, row->expected, row->unit);
    print_number(out, row->got, row->unit);
    print_percent(out, row->error, true);
    print_percent(out, row->chance, false);
    print_percent(out, row->spread, false);
    fputc('\n', out);
}

static void print_rows(const struct as_trust_report *report, FILE *out)
{
    const char *last = "";
    for (size_t i = 0; i < report->rows.len; i++) {
        const struct as_trust_row *row = &report->rows.data[i];
        if (strcmp(row->experiment, last) != 0) {
            fprintf(out, "\n%s: %s\n", row->experiment, as_trust_about(row->experiment));
            fprintf(out, "  %-26s %-41s %11s %11s %10s %10s %10s\n", "", "", "expected", "got", "error", "by chance",
                    "spread");
        }
        last = row->experiment;
        print_row(row, out);
    }
}

const char *as_trust_shadow_kernel(const struct as_trust_shadow *shadow, char *text, size_t size)
{
    snprintf(text, size, "%s%s", shadow->kernel, shadow->fence ? ", fence" : "");
    return text;
}

const char *as_trust_shadow_failure(const struct as_trust_shadow *shadow, char *text, size_t size)
{
    if (shadow->even)
        return NULL;
    if (shadow->few)
        snprintf(text, size, "%s%s samples: not enough to tell", shadow->samples ? "only " : "",
                 shadow->samples ? AS_COUNT(shadow->samples) : "no");
    else
        snprintf(text, size, "no number of nops up to %u is enough", shadow->nops);
    return text;
}

static void print_shadows(const struct as_trust_shown *shown, FILE *out)
{
    if (!shown->shadows.len)
        return;
    fprintf(out, "\nshadow: nops behind each event until every one gets its share of samples\n");
    fprintf(out, "  %-22s %-16s %8s %10s %12s %12s %10s\n", "", "kernel", "nops", "cycles", "most before", "most after",
            "slower");
    for (size_t i = 0; i < shown->shadows.len; i++) {
        const struct as_trust_shadow *shadow = &shown->shadows.data[i];
        char kernel[32], failure[64];
        fprintf(out, "  %-22s %-16s", shadow->event, as_trust_shadow_kernel(shadow, kernel, sizeof kernel));
        if (shadow->even)
            fprintf(out, " %8u %10.1f %10.1f %% %10.1f %% %8.0f %%\n", shadow->nops, shadow->cycles,
                    100 * shadow->before, 100 * shadow->after, 100 * shadow->cost);
        else if (shadow->few)
            fprintf(out, "   %s\n", as_trust_shadow_failure(shadow, failure, sizeof failure));
        else
            fprintf(out, " %8s %10s %10.1f %%   %s\n", "", "", 100 * shadow->before,
                    as_trust_shadow_failure(shadow, failure, sizeof failure));
    }
}

static void print_hardware(const struct as_trust_shown *shown, FILE *out)
{
    const struct as_pmu_hardware *hardware = &shown->hardware;
    if (!shown->has_hardware)
        return;
    fprintf(out, "\nhardware, for the core %s:\n", shown->subject->options->core);
    fprintf(out, "  storage: TIP %u bytes, TEA %u more, both %u\n", hardware->tip_bytes, hardware->tea_bytes,
            hardware->tip_bytes + hardware->tea_bytes);
    fprintf(out, "  TEA adds %u bits to an entry of the ROB and %u to one of the fetch buffer\n", hardware->rob_bits,
            hardware->fetch_bits);
    fprintf(out, "  a sample: %u bytes (%u with one address only); at 4 kHz %.0f kB/s (%.0f kB/s)\n",
            hardware->tip_sample, hardware->plain_sample, hardware->tip_rate / 1e3, hardware->plain_rate / 1e3);
    fprintf(out, "  every cycle, as the Oracle: %.0f GB/s\n", hardware->oracle_rate / 1e9);
}

void as_trust_print(const struct as_trust_shown *shown, FILE *out)
{
    const struct as_trust_subject *subject = shown->subject;
    if (subject->timer)
        fprintf(out, "the kernel's clocks on this machine\n");
    else if (subject->machine)
        fprintf(out, "%s: %s\n", AS_SHOW(subject->pmu.name), AS_SHOW(subject->pmu.description));
    else
        fprintf(out, "%s: %s, on the modelled core %s\n", AS_SHOW(subject->pmu.name), AS_SHOW(subject->pmu.description),
                subject->options->core);
    for (size_t i = 0; i < shown->report.verdicts.len; i++) {
        fputs("  ", out);
        as_cli_wrap(out, shown->report.verdicts.data[i], 2, 4);
    }
    print_rows(&shown->report, out);
    print_shadows(shown, out);
    print_hardware(shown, out);
}

/* ---- CSV ---- */

static void put_csv_number(double value, FILE *out)
{
    if (isnan(value))
        fputc(',', out);
    else
        fprintf(out, ",%.6g", value);
}

void as_trust_print_csv(const struct as_trust_shown *shown, FILE *out)
{
    fputs("experiment,what,setting,unit,expected,got,error,chance,spread\n", out);
    for (size_t i = 0; i < shown->report.rows.len; i++) {
        const struct as_trust_row *row = &shown->report.rows.data[i];
        struct as_str line = {0};
        as_csv_add_text(&line, row->experiment, 0);
        as_str_add(&line, ",");
        as_csv_add_text(&line, row->what, 0);
        as_str_add(&line, ",");
        as_csv_add_text(&line, row->setting, 0);
        fprintf(out, "%s,%s", as_str_get(&line), as_trust_unit_names[row->unit]);
        put_csv_number(row->expected, out);
        put_csv_number(row->got, out);
        put_csv_number(row->error, out);
        put_csv_number(row->chance, out);
        put_csv_number(row->spread, out);
        fputc('\n', out);
        as_str_free(&line);
    }
}

/* ---- JSON ---- */

static void put_row(struct as_json *json, const struct as_trust_row *row)
{
    as_json_object(json, NULL);
    as_json_string(json, "experiment", row->experiment);
    as_json_string(json, "what", row->what);
    as_json_string(json, "setting", row->setting);
    as_json_string(json, "unit", as_trust_unit_names[row->unit]);
    as_json_double(json, "expected", row->expected);
    as_json_double(json, "got", row->got);
    as_json_double(json, "error", row->error);
    as_json_double(json, "chance", row->chance);
    as_json_double(json, "spread", row->spread);
    as_json_end(json);
}

static void put_shadow(struct as_json *json, const struct as_trust_shadow *shadow)
{
    char failure[64];
    as_json_object(json, NULL);
    as_json_string(json, "event", shadow->event);
    as_json_string(json, "kernel", shadow->kernel);
    as_json_bool(json, "fence", shadow->fence);
    as_json_bool(json, "even", shadow->even);
    as_json_string(json, "failure", as_trust_shadow_failure(shadow, failure, sizeof failure));
    as_json_u64(json, "samples", shadow->samples);
    as_json_u64(json, "nops", shadow->nops);
    as_json_double(json, "cycles", shadow->even ? shadow->cycles : NAN);
    as_json_double(json, "share_before", shadow->few ? NAN : shadow->before);
    as_json_double(json, "share_after", shadow->few ? NAN : shadow->after);
    as_json_double(json, "share_expected", shadow->fair);
    as_json_double(json, "cost", shadow->even ? shadow->cost : NAN);
    as_json_end(json);
}

static void put_hardware(struct as_json *json, const struct as_pmu_hardware *hardware)
{
    as_json_object(json, "hardware");
    as_json_u64(json, "tip_bytes", hardware->tip_bytes);
    as_json_u64(json, "tea_bytes", hardware->tip_bytes + hardware->tea_bytes);
    as_json_u64(json, "rob_bits", hardware->rob_bits);
    as_json_u64(json, "fetch_bits", hardware->fetch_bits);
    as_json_u64(json, "sample_bytes", hardware->tip_sample);
    as_json_u64(json, "plain_sample_bytes", hardware->plain_sample);
    as_json_double(json, "bytes_per_second", hardware->tip_rate);
    as_json_double(json, "plain_bytes_per_second", hardware->plain_rate);
    as_json_double(json, "oracle_bytes_per_second", hardware->oracle_rate);
    as_json_end(json);
}

bool as_trust_print_json(const struct as_trust_shown *shown, FILE *out)
{
    struct as_json *json = as_json_new(out);
    as_json_object(json, NULL);
    as_json_string(json, "source", shown->subject->timer ? "timer" : shown->subject->machine ? "pmu" : "model");
    as_json_string(json, "pmu", shown->subject->timer ? NULL : shown->subject->pmu.name);
    as_json_string(json, "core", shown->subject->options->core);
    as_json_u64(json, "runs", shown->subject->options->runs);
    as_json_u64(json, "executions", shown->subject->runs);
    as_json_array(json, "verdicts");
    for (size_t i = 0; i < shown->report.verdicts.len; i++)
        as_json_string(json, NULL, shown->report.verdicts.data[i]);
    as_json_end(json);
    as_json_array(json, "rows");
    for (size_t i = 0; i < shown->report.rows.len; i++)
        put_row(json, &shown->report.rows.data[i]);
    as_json_end(json);
    as_json_array(json, "shadows");
    for (size_t i = 0; i < shown->shadows.len; i++)
        put_shadow(json, &shown->shadows.data[i]);
    as_json_end(json);
    if (shown->has_hardware)
        put_hardware(json, &shown->hardware);
    as_json_end(json);
    return as_json_finish(json);
}
