/* Verbs that run programs, from the command line to what a person gets, on programs whose counts are known (workloads/known), against
 * tests/golden/whole_runs.txt. What the machine or the core model decides is not there: of lines that have times, process numbers or sizes of
 * files, and of command lines that begin with '~', every number is '#'. argv: the folder of the programs. */
#include "engine/find_qemu.h"

#include "unit.h"
#include "unit_golden.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

int run_assay(int argc, char **argv); /* its main */

/* One behind the other, in one folder: later ones read what earlier ones wrote. */
static const char *const lines[] = {
    "stat x86-stack",
    "stat --json --check --calls=1 x86-call-memory",
    "stat --functions=1 --footprint x86-jumps",
    "stat --region=1000..+500 --json x86-load-16-page",
    "stat --skip=100 --max=200 x86-branch-third",
    "stat -v --max=300 x86-update-8-page",
    "script --max=12 x86-branch-third",
    "script --json --max=40 --class=branch,jump x86-jumps",
    "comm x86-stack",
    "comm --json x86-stack",
    "comm --json --no-estimate --cores=4 --sockets=2 --skip=100 --max=1000 x86-stack",
    "~comm --csv x86-threads-3",
    "reuse --core=boom-tip x86-load-16-page",
    "reuse --json --core=boom-tip x86-update-8-page",
    "~reuse --json --core=boom-tip --method=watch --period=50 x86-update-8-page",
    "reuse --csv --core=boom-tip --granularity=8 --top=1 x86-load-16-page",
    "~points --core=boom-tip --interval=1000 --max-k=3 --json x86-stack",
    "~points --core=boom-tip --interval=1000 --max-k=3 --bb=stack.bb --simpoints=stack.points --weights=stack.weights "
    "x86-stack",
    "points --from-bb=stack.bb --interval=1000 --max-k=3 --csv",
    "blocks x86-branch-third",
    "blocks --json --never x86-call-memory",
    "~blocks --methods --core=boom-tip --period=100 --json x86-branch-third",
    "~compare --json --core=boom-tip --samplers=tip,nci --period=101 x86-stack",
    "~compare --json --core=boom-tip --events=tea --pics=_start x86-load-16-page",
    "~whatif --json --core=boom-tip --ideal=ST-L1 --rank=2 x86-load-16-page",
    "record -q --core=boom-tip --samplers=tip --period=101 -o a.assay x86-call-memory",
    "record -q --core=boom-tip --samplers=tip --period=101 --repeat=2 -o b.assay x86-call-memory",
    "~record --json --source=model --core=boom-tip --sampled --sample-unit=1000 --sample-period=10000 -o c.assay "
    "x86-stack",
    "~report --json --by=line a.assay",
    "~report --json --calls a.assay",
    "~report --json --diff=b.assay a.assay",
    "~annotate --json _start a.assay",
    "~export --to=folded a.assay -o -",
    "~merge a.assay b.assay --weights=1/2,1/2 -o d.assay",
    "~report --json d.assay",
    "stat --json --footprint --functions=2 --region=100..+200,weight=2 --region=500..+100 x86-jumps",
    "stat --observer=none.so x86-stack",
    "~script --json --max=30 --symbol=_start x86-call-memory",
    "~script --skip=10 --max=15 --class=load,store x86-update-8-page",
    "~comm --sampling=operations --buckets=7 x86-stack",
    "~comm --json --method=last-stores --period=50 --fixed --pin=1,0,2 --cores=3 x86-stack",
    "~comm --svg --top=2 x86-stack",
    "~comm --html --pmu=skylake --no-paths x86-stack",
    "reuse --json --core=boom-tip --granularity=64 --interval=500 --adjacent --sockets=2 x86-load-10-page",
    "~reuse --core=boom-tip --method=watch --exact --shared --period=20 --registers=2 x86-load-10-page",
    "~reuse --html --core=boom-tip --top=2 x86-update-8-page",
    "~reuse --json --core=boom-tip --method=lines --lines=16 x86-load-16-page",
    "blocks --csv x86-jumps",
    "blocks --function=_start --blocks=3 --loops=2 --traces=2 --functions=1 x86-call-memory",
    "blocks --module=x86-jumps --never --traces=1 x86-jumps",
    "blocks --for=bolt x86-jumps",
    "blocks --for=none x86-jumps",
    "~blocks --methods --core=boom-tip --pmu=skylake --period=100 x86-branch-third",
    "~compare --core=boom-tip,boom-tea --samplers=tip,lci,software --period=101 --sweep=50,200 --top=3 x86-stack",
    "~compare --core=boom-tip --events=tea,+FORWARDED --pics=_start --pics-of=tea --timeline x86-load-16-page",
    "~whatif --core=boom-tip --ideal=ST-L1@_start --change=memory.llc.latency=1 --together x86-load-16-page",
    "~points sweep --core=boom-tip --interval=1000 --max-k=3 --json x86-stack",
    "~record --json --core=boom-tip --samplers=tip,nci --golden=on --events=none --max=2000 --count-rest -o e.assay "
    "x86-stack",
    "~record --json --core=boom-tip --repeat=2 --random --seed=3 -o e.assay x86-call-memory",
    "~record -q --source=pmu:skylake --core=skylake-like --period=200 -o p.db x86-load-16-page",
    "~blocks p.db",
    "~trust p.db",
    "~trust --json p.db",
    "~report --limit=3 p.db",
    "~record -q --points=auto --core=boom-tip --point-interval=1000 --point-warm=all --max-k=2 -o e.assay x86-stack",
    "~report --csv --by=instruction --sort=total --limit=3 a.assay",
    "~report --json --by=thread --series=tip a.assay",
    "~report --json --diff=b.assay --fail-over=5 --strict a.assay",
    "~annotate --blocks --json _start a.assay",
    "~export --to=csv --samples=3 a.assay -o -",
    "~export --to=none a.assay",
    "merge a.assay -o a.assay",
    "merge --weights=1,2,3 a.assay b.assay -o d.assay",
    "trust skylake --list",
    "trust skylake --list --json",
    "trust zen4 --events",
    "trust --keys",
    "~trust skylake --core=skylake-like --experiments=multi-event --runs=1 --scale=2 --json",
    "~trust skylake --core=skylake-like --experiments=multi-event --runs=1 --scale=2 --csv",
    "trust none --list",
    "jobs --list none",
    "~jobs --list --json none",
    "remedy none.s",
    "remedy --nops=3 --at=12,0x1c none.s",
    "remedy --nops=3 --at=12,0x1c --function=f none.s",
    "remedy --nops=3 --at=12,x --function=f none.s",
    "remedy --nops=3 --at=, --function=f none.s",
    "merge -q a.assay b.assay -o t.db",
    "~trust t.db",
    "~trust --json t.db",
    "~trust t.db t.db",
    "~blocks a.assay",
    "~blocks --json a.assay",
    "import none.data",
    "import text",
    "stat none",
    "report none.assay",
};

/* Files that are known by how they begin, and nothing more. */
static const struct {
    const char *name, *begin;
} files[] = {{"head", "PERFILE2"},
             {"other", "2ELIFREP"},
             {"old", "PERFFILE"},
             {"gzip", "\x1f\x8b\x08....."},
             {"xz", "\xfd"
                    "7zXZ..."},
             {"zstd", "\x28\xb5\x2f\xfd...."},
             {"bzip2", "BZh....."},
             {"database", "SQLite f"},
             {"text", "nothing."},
             {"short", "PERF"},
             {"empty", ""}};

static const char *known;

/* ---- what a golden file can have ---- */

static bool depends(const char *line)
{
    static const char *const words[] = {"second", "mips",    "MIPS", "pid",    "tid",   "bytes", "date",
                                        "KiB",    "version", "rate", "memory", "nodes", "edges", " s "};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strstr(line, words[i]))
            return true;
    return false;
}

static const char *behind_number(const char *at)
{
    while (isalnum((unsigned char)*at) || (strchr(".,", *at) && isdigit((unsigned char)at[1])) ||
           (strchr("+-", *at) && at[-1] == 'e'))
        at++;
    return at;
}

/* Blanks between words are one: how many there are follows from the numbers. */
static void write_masked(FILE *out, const char *line)
{
    for (const char *at = line, *begin = line + strspn(line, " "); *at;)
        if (at > begin && at[0] == ' ' && at[1] == ' ')
            at++;
        else if (isdigit((unsigned char)*at) && (at == line || !isalnum((unsigned char)at[-1]))) {
            fputc('#', out);
            at = behind_number(at);
        } else {
            fputc(*at++, out);
        }
}

static void write_line(FILE *out, char *line, bool masked)
{
    for (char *found; (found = strstr(line, known));) { /* where the build is */
        memmove(found, found + strlen(known), strlen(found + strlen(known)) + 1);
        memmove(found + 5, found, strlen(found) + 1);
        memcpy(found, "KNOWN", 5);
    }
    if (masked || depends(line))
        write_masked(out, line);
    else
        fputs(line, out);
}

/* ---- running ---- */

/* Programs by their paths, all else as it is. Returns the number of words. */
static int words_of(char *line, char **argv, char paths[2][PATH_MAX])
{
    int argc = 1;
    argv[0] = "assay";
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
        argv[argc++] = word;
    if (strncmp(argv[argc - 1], "x86-", 4) == 0) {
        snprintf(paths[0], PATH_MAX, "%s/%s", known, argv[argc - 1]);
        argv[argc - 1] = paths[0];
    }
    argv[argc] = NULL;
    return argc;
}

/* In a process of its own. Both outputs go to `captured`. */
static int run(const char *text, int captured)
{
    enum { MOST_WORDS = 24 };
    char line[256], *argv[MOST_WORDS], paths[2][PATH_MAX];
    fflush(NULL);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(captured, 1);
        dup2(captured, 2);
        snprintf(line, sizeof line, "%s", text);
        int argc = words_of(line, argv, paths), status = run_assay(argc, argv);
        fflush(NULL);
        _exit(status);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void write_run(FILE *out, const char *line)
{
    enum { LINE = 1 << 16 };
    static char text[LINE];
    bool masked = line[0] == '~';
    FILE *captured = tmpfile();
    unit_golden_section(out, "assay %s", line + masked);
    fprintf(out, "(%d)\n", run(line + masked, fileno(captured)));
    rewind(captured);
    while (fgets(text, sizeof text - PATH_MAX, captured))
        if (!strstr(text, "CPUID")) /* what this machine has */
            write_line(out, text, masked);
    fclose(captured);
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void whole_runs(void **state)
{
    static const char *const made[] = {"a.assay",      "b.assay",       "c.assay", "d.assay", "stack.bb",
                                       "stack.points", "stack.weights", "e.assay", "t.db",    "p.db"};
    struct as_qemu qemu;
    struct as_error err = AS_ERROR_INIT;
    char folder[] = "/tmp/assay-whole-XXXXXX", before[PATH_MAX];
    if (!as_qemu_find(AS_ARCH_X86_64, NULL, &qemu, &err))
        unit_skip("%s", err.message);
    assert_non_null(getcwd(before, sizeof before));
    assert_true(mkdtemp(folder) && chdir(folder) == 0);
    FILE *out = unit_golden_begin();
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        write_file(files[i].name, files[i].begin);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        write_run(out, lines[i]);
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        char line[64];
        snprintf(line, sizeof line, "blocks %s", files[i].name);
        write_run(out, line);
        unlink(files[i].name);
    }
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        unlink(made[i]);
    assert_true(chdir(before) == 0 && rmdir(folder) == 0);
    unit_golden_check(out, "whole_runs.txt");
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(whole_runs)};
    if (argc != 2 || !(known = realpath(argv[1], NULL)))
        return 1;
    unsetenv("ASSAY_CORE");
    setenv("LC_ALL", "C.UTF-8", 1);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free((char *)known);
    return failed;
}
