// Formats numbers and names for display.

const grouped = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });

export function count(value: number | null | undefined): string {
    return value === null || value === undefined ? "not measured" : grouped.format(value);
}

/** "12.3 G": three significant digits, but small whole numbers as they are. */
export function short(value: number): string {
    if (Number.isInteger(value) && Math.abs(value) < 10000) return grouped.format(value);
    for (const [unit, size] of [["T", 1e12], ["G", 1e9], ["M", 1e6], ["k", 1e3]] as const)
        if (Math.abs(value) >= size) return `${digits(value / size)} ${unit}`;
    return digits(value);
}

export function digits(value: number): string {
    if (value === 0) return "0";
    const magnitude = Math.abs(value);
    return magnitude >= 100 ? value.toFixed(0) : magnitude >= 10 ? value.toFixed(1) : value.toFixed(2);
}

/** "2.12 s", "1.12 ms", "3.00 µs". */
export function seconds(value: number): string {
    for (const [unit, size, least] of [["s", 1, 0.1], ["ms", 1e-3, 1e-3], ["µs", 1e-6, 1e-6]] as const)
        if (value >= least) return `${digits(value / size)} ${unit}`;
    return value === 0 ? "0 s" : `${digits(value / 1e-9)} ns`;
}

export function percent(share: number): string {
    if (!Number.isFinite(share)) return "–";
    const value = share * 100;
    if (value === 0) return "0 %";
    if (Math.abs(value) < 0.01) return value < 0 ? ">−0.01 %" : "<0.01 %";
    return `${Math.abs(value) >= 99.95 ? value.toFixed(0) : Math.abs(value) >= 10 ? value.toFixed(1) : value.toFixed(2)} %`;
}

/** Half an interval, in points of a percentage: "±0.43". */
export function plusMinus(share: number): string {
    const points = share * 100;
    return points < 0 || !Number.isFinite(points) ? "–" : points > 0 && points < 0.005 ? "±<0.01" : `±${points.toFixed(points >= 10 ? 1 : 2)}`;
}

export function signedPercent(share: number): string {
    const text = percent(Math.abs(share));
    return text === "0 %" ? text : (share < 0 ? "−" : "+") + text;
}

/** Text that is safe to show on one line: control characters become their pictures, characters that change the writing
 * direction become U+FFFD, and text longer than `limit` is cut. */
export function clean(text: string, limit: number): string {
    const cut = text.length > limit ? text.slice(0, limit - 1) + "…" : text;
    return cut.replace(/[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/gu, (c) => {
        const code = c.codePointAt(0)!;
        return code < 0x20 ? String.fromCharCode(0x2400 + code) : code === 0x7f ? "␡" : "\ufffd";
    });
}
