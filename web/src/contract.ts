// The document that the page reads, as doc/format/page.md describes it. Tables are stored as columns; names are indices
// into `strings`. A value that is null or absent was not measured, and the page shows that.

export const FORMAT = "assay-page";
export const VERSION = 1;

/** Time by row: entry i is `cycles[i]` of row r, where r grows by `row[i]` from entry to entry. Without `component`, the
 * source recorded no events. */
export interface Sparse {
    row: number[];
    component?: number[];
    cycles: number[];
}

export interface SummaryData {
    program: string;
    arguments?: string;
    source: string;
    sampler: string;
    core?: string | null;
    instructions?: number | null;
    cycles?: number | null;
    samples?: number | null;
    lost?: number | null;
    throttled?: number | null;
    period?: string | null;
    error_estimate?: number | null;
    error_how?: string | null;
    /** The level of error_estimate ("instruction", "program"), and the error at each level. */
    error_level?: string | null;
    error_by?: Record<string, number | null> | null;
    /** How far two such runs would be apart by function. */
    runs_apart?: number | null;
    /** The part of the time in code of which no function is known: by function, it counts by module. */
    unnamed?: number | null;
    /** The part of the samples whose function is a guess; from a half on there is no error by function. */
    guessed?: number | null;
    trust?: TrustData | null;
    seconds?: number | null;
    /** Of a sampled run: half the 95 % interval of the seconds, as a part of them. */
    seconds_error?: number | null;
    threads?: number | null;
    recorded?: string | null;
    class?: string | null;
    states?: Record<string, number> | null;
    /** Half the 95 % intervals of their shares, in a sampled run. */
    state_errors?: Record<string, number> | null;
    repeat?: { runs: number; mean: number; spread: number } | null;
    /** Why the profile does not cover the whole run; the part that was measured, and the one that was asked for. */
    partial?: string | null;
    part?: string | null;
    region?: string | null;
    unmeasured?: string[];
    /** What part of the call chains has no caller, if that is not small. */
    chains?: string | null;
    notes?: string[];
}

export interface Range {
    low: number;
    median: number;
    high: number;
}

/** What error to expect of samples: by chance, by how they were taken, together. */
export interface TrustData {
    way: string;
    about: string;
    from: string;
    programs: number;
    levels: { by: string; chance: number | null; bias: Range; expected: Range }[];
}

export interface SeriesData {
    name: string;
    label?: string;
    unit?: Unit;
    exact?: boolean;
    samples?: number | null;
    lost?: number | null;
    throttled?: number | null;
    period?: string | null;
    error?: { instruction?: number | null; block?: number | null; function?: number | null; pics?: number | null } | null;
    note?: string;
    /** Half the 95 % intervals of the shares of the whole program, in a sampled run. */
    errors?: { functions?: RowErrors; instructions?: RowErrors; totals?: RowErrors; components?: RowErrors; parts?: RowErrors & { component: number[] }; path_self?: number[]; path_total?: number[] };
    functions?: Sparse;
    instructions: Sparse;
    /** Self time of the call paths. */
    paths?: Sparse;
    /** Time of the functions in each of the document's threads; null: left out. */
    threads?: (Sparse | null)[];
    data?: DataTable;
    branches?: BranchTable;
    waits?: WaitTable;
}

/** Numbers of some rows; rows as in sparse time. */
export interface RowErrors {
    row: number[];
    share: number[];
}

/** Instructions as other tables refer to them: index into `strings`, and row of `instructions` or -1. */
export interface Places {
    name: number[];
    row: number[];
}

/** Objects that samples accessed, sorted by time. The first `listed[0]` of `accesses` belong to the first object. */
export interface DataTable {
    name: number[];
    module: number[];
    address: (string | null)[];
    size: number[];
    cycles: number[];
    loads: number[];
    stores: number[];
    samples: number[];
    lines: number[];
    bytes: number[];
    instructions: number[];
    listed: number[];
    accesses: Places & { cycles: number[] };
    rest?: { rows: number; cycles: number; samples: number };
}

/** Recorded taken branches, most frequent first. */
export interface BranchTable {
    from: Places;
    to: Places;
    taken: number[];
    mispredicted: number[];
    cycles?: number[];
    rest?: { rows: number; taken: number; mispredicted: number };
}

/** Waits for lines, added up by object, line or pair of code, the most cycles first. `false`: cycles of false sharing. */
export interface WaitList {
    cycles: number[];
    false: number[];
    transfers: number[];
    object: number[];
    place?: number[];
    address?: string[];
    waited?: Places;
    culprit?: Places;
    left_out: number;
}

/** What threads waited for; the matrices have the row's waits for the column. */
export interface WaitTable {
    pattern: string;
    cycles: number;
    false: number;
    transfers: number;
    threads: number[];
    threads_left_out: number;
    matrix_true: number[][];
    matrix_false: number[][];
    objects: WaitList;
    lines: WaitList;
    pairs: WaitList;
}

export type Unit = "cycles" | "ns" | "samples";

/** What `assay report --diff --json` writes. */
export interface DiffRow {
    name?: string | null;
    module?: string | null;
    function?: string | null;
    before: number;
    cycles: number;
    change: number;
    /** Chance does not explain the change; absent in older documents. */
    significant?: boolean;
    /** Instructions executed in it. */
    before_executions?: number | null;
    executions?: number | null;
    before_components?: Record<string, number>;
    components?: Record<string, number>;
}

export interface DiffSide {
    program?: string | null;
    core?: string | null;
    sampler?: string | null;
    cycles?: number | null;
    instructions?: number | null;
    seconds?: number | null;
}

export interface DiffData {
    before: DiffSide;
    summary: DiffSide;
    differ_in?: string | null;
    change?: number | null;
    significant?: boolean;
    speedup?: number | null;
    rows: DiffRow[];
}

/** What `assay reuse --json` writes, as far as the page shows it. It comes from a file, so all of it may be missing. */
export interface ReuseBin {
    lo: number;
    hi: number;
    count: number;
    counted?: number; // the share that was counted; the rest was timed
    off?: number; // by which factor its distances may be too long or too short
}

export interface ReusePlace {
    function?: string | null;
    file?: string | null;
    line?: number;
    address?: string;
    path?: string[];
}

export interface ReuseCauses {
    cold?: number;
    capacity?: number;
    conflict?: number;
    coherence?: number;
}

export interface ReusePair {
    use?: ReusePlace;
    reuse?: ReusePlace;
    count?: number;
    spatial?: number;
    beyond_L1?: number;
    conflicts?: number;
    beyond_LLC?: number;
    samples?: number;
    time?: number;
}

export interface ReuseData {
    program?: string[];
    method?: string;
    core?: string;
    granularity?: number;
    accesses?: number | null; // null: too short a run to say, see native
    native?: { accesses_least?: number; accesses_most?: number };
    touches?: number;
    reuses?: number;
    cold?: number;
    invalidations?: number;
    histogram?: ReuseBin[];
    time_histogram?: ReuseBin[];
    miss_ratio?: { bytes: number; ratio: number; shared?: number; ratio_error?: number; shared_error?: number }[];
    shared?: { reuses?: number; false_sharing?: number; histogram?: ReuseBin[]; time_histogram?: ReuseBin[]; pairs?: ReusePair[] };
    caches?: (ReuseCauses & { name?: string; bytes?: number; predicted?: number; simulated?: number })[];
    host_caches?: { level?: number; bytes?: number; predicted?: number }[];
    pairs?: ReusePair[];
    code?: { at?: ReusePlace; line_bytes_used?: number; L1?: ReuseCauses }[];
    objects?: (ReuseCauses & { name?: string; misses?: number; line_bytes_used?: number; distance?: number; hottest?: { name?: string } })[];
    working_set?: { interval?: number; bytes?: number[] };
    advice?: { kind?: string; share?: number; text?: string }[];
}

export interface PageData {
    format: string;
    version: number;
    unit?: Unit;
    summary: SummaryData;
    strings: string[];
    events?: { name: string; meaning?: string; state?: string }[];
    components?: number[][];
    series: SeriesData[];
    modules?: { name: string; path?: string; build_id?: string; note?: string }[];
    files?: { name: string; first?: number; lines?: string[] | null; note?: string }[];
    functions: {
        name: number[];
        module?: number[];
        address?: string[];
        file?: number[];
        line?: number[];
        count: number[];
        total?: (number | null)[];
        executed?: (number | null)[];
    };
    instructions: {
        address: number[];
        text: number[];
        file?: number[];
        line?: number[];
        executed?: number[];
        /** How often the block of each ran, estimated from samples; -1: not known. */
        runs?: number[];
        jump?: number[];
        call?: { row: number[]; function: number[] };
        inlined?: number[];
        inlines?: { parent: number[]; name: number[]; file?: number[]; line?: number[] };
    };
    paths?: { parent: number[]; function: number[] };
    addresses?: { how: string; samples: number; meaning?: string }[];
    diff?: DiffData;
    reuse?: ReuseData;
    threads?: { name: string; instructions?: number | null; cycles?: number | null }[];
    counters?: { name: string; value: number; error?: number; group?: string; label?: string; whole?: string; of?: string; meaning?: string }[];
    machine?: { name: string; rows: { name: string; value: string; note?: string }[] }[];
    run?: { name: string; value: string }[];
}
