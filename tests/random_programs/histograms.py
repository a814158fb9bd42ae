"""Histograms as they are printed."""

from collections import Counter


def bound(number, bits):
    """A bound of a bucket, with K, M, G... from 1024, 1024^2... times 2^bits on."""
    power = 0
    while power < 6 and number >> 10 * (power + 1) >= 1 << bits:
        power += 1
    return f"{number >> 10 * power}{' KMGTPE'[power].strip()}"


def rows(buckets, label):
    most = max(buckets.values())
    lines = []
    for bucket in range(min(buckets), max(buckets) + 1):
        count = buckets.get(bucket, 0)
        lines.append(f"{label(bucket):<16}{count:>8} |{'@' * (count * 52 // most):<52}|")
    return "\n".join(lines)


def hist_rows(values, bits):
    """Bucket -1: negative; below 2^bits every value is one; above, each power of two is split into 2^bits."""
    single = 1 << bits

    def bucket(n):
        if n < 0:
            return -1
        if n < single:
            return n
        shift = n.bit_length() - 1 - bits
        return single + shift * single + ((n >> shift) - single)

    def first(b):
        if b < single:
            return b
        shift, part = divmod(b - single, single)
        return (single + part) << shift

    def label(b):
        if b < 0:
            return "(..., 0)"
        low, high = first(b), first(b + 1)
        if high == low + 1:
            return f"[{bound(low, bits)}]"
        return f"[{bound(low, bits)}, {'...' if high >= 1 << 64 else bound(high, bits)})"

    return rows(Counter(map(bucket, values)), label)


def lhist_rows(values, low, high, step):
    count = (high - low) // step
    suffixed = (lambda n: f"{n // 1024}K" if n and n % 1024 == 0 else str(n)) if step % 1024 == 0 else str

    def label(b):
        if b < 0:
            return f"(..., {suffixed(low)})"
        if b >= count:
            return f"[{suffixed(high)}, ...)"
        if step == 1:
            return f"[{low + b}]"
        return f"[{suffixed(low + b * step)}, {suffixed(low + (b + 1) * step)})"

    return rows(Counter(max(-1, min(count, (n - low) // step)) for n in values), label)
