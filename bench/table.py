"""The table of results: one row per bar, with what was measured beside what, and whether it holds."""

from dataclasses import dataclass, field


@dataclass
class Row:
    what: str
    values: dict  # {name: number}; "flowtap" is what the bar is about
    form: str = ".1f"
    ratios: dict = field(default_factory=dict)  # {name: flowtap may be at most so many times its value}
    at_most: float = None
    at_least: float = None
    resolution: float = 0  # values that differ by less are equal to a ratio

    def bars(self):
        """[(text, measured, holds)]"""
        ours = self.values.get("flowtap")
        bars = []
        if self.at_most is not None:
            bars.append((f"<= {self.at_most:g}", f"{ours:{self.form}}", ours <= self.at_most))
        if self.at_least is not None:
            bars.append((f">= {self.at_least:g}", f"{ours:{self.form}}", ours >= self.at_least))
        for name, limit in self.ratios.items():
            if name in self.values:
                ratio = ours / self.values[name] if self.values[name] else float("inf")
                is_equal = abs(ours - self.values[name]) < self.resolution
                # Less than nothing is a disturbed measurement, not a cheap program.
                is_sound = min(ours, self.values[name]) >= -self.resolution
                bars.append((f"<= {limit:.3g} x {name}", f"{ratio:.2f} x", is_sound and (ours <= limit * self.values[name] or is_equal)))
        return bars

    def holds(self):
        return all(holds for _, _, holds in self.bars())


def write_head():
    print(f"{'':46}{'flowtap':>11}{'bpftrace':>10}{'libbpf':>9}{'C':>9}  bars", flush=True)


def write(row):
    cells = [f"{row.values[n]:{row.form}}" if n in row.values else "-" for n in ("flowtap", "bpftrace", "libbpf", "C")]
    bars = "; ".join(f"{text}: {measured} {'pass' if holds else 'FAIL'}" for text, measured, holds in row.bars())
    if row.resolution:
        bars += f" (+-{row.resolution:.1f})"
    print(f"{row.what:46}{cells[0]:>11}{cells[1]:>10}{cells[2]:>9}{cells[3]:>9}  {bars}", flush=True)
