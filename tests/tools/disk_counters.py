"""What the kernel counts of a disk."""

from pathlib import Path

FIELDS = ("reads read_merges read_sectors read_ms writes write_merges write_sectors write_ms in_flight io_ms queue_ms "
          "discards discard_merges discard_sectors discard_ms flushes flush_ms").split()


def counters(disk):
    return dict(zip(FIELDS, map(int, Path(f"/sys/block/{disk}/stat").read_text().split())))
