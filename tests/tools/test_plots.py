"""Pictures that tools draw, beside the rows they were drawn from."""

import json
import re
import subprocess
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

from processes import Running
from shared import differing, flowtap_text, run_load

SPACE = "{http://www.w3.org/2000/svg}"


def picture_during(flowtap, load, suffix, *arguments):
    """(the tool's rows, the picture as XML, the titles of its marks)"""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "picture" + suffix)
        running = Running(flowtap, *arguments, "-f", "json", "--plot", str(file))
        run_load(*load)
        out, err = running.stop()
        text = file.read_text()
    rows = [json.loads(line) for line in out.splitlines()]
    svg = text if suffix == ".svg" else re.search(r"<svg.*</svg>", text, re.S)[0]
    tree = xml.fromstring(svg)
    return rows, tree, [title.text for title in tree.iter(SPACE + "title")], err


def a_scatter_plot_has_every_row(root, flowtap):
    rows, tree, titles, err = picture_during(flowtap, ("tcp", 5, 3, 0), ".svg", "tcplife")
    shown = sum(1 + int((re.search(r"and (\d+) more here", title) or [0, 0])[1]) for title in titles)
    missing = [row for row in rows if not any(f"LPORT {row['lport']}\n" in title for title in titles)]
    hidden = [row for row in missing if shown < len(rows)]
    labels = " ".join(text.text or "" for text in tree.iter(SPACE + "text"))
    problem = "" if "LIFE(ms)" in labels and "seconds from" in labels else f"  the axes are not labelled: {labels}\n"
    return problem + differing("points", len(rows), shown) + differing("rows without a point", [], hidden) + err


def a_heat_map_counts_every_row(root, flowtap):
    rows, _, titles, err = picture_during(flowtap, ("tcp", 7, 4, 6), ".html", "tcpconnect")
    return differing("sum of the cells", len(rows), sum(int(title.split("\n")[-1]) for title in titles)) + err


def lines_are_drawn_for_each_socket(root, flowtap):
    rows, tree, titles, err = picture_during(flowtap, ("tcp", 2, 1, 0), ".svg", "tcpwin")
    sockets = {row["socket"] for row in rows}
    names = [text.text.split(": ")[1] for text in tree.iter(SPACE + "text") if (text.text or "").startswith("tcpwin: ")]
    strange = [name for name in names if name not in sockets]
    return differing("pictures", min(len(sockets), 8), len(names)) + differing("pictures of nothing", [], strange) + err


def a_picture_that_cannot_be_written_is_told_at_once(root, flowtap):
    code, out, err = flowtap_text(flowtap, "tcplife", "--plot", "/no/such/place.svg")
    return differing("answer", (2, "", "error: cannot write '/no/such/place.svg': No such file or directory\n"), (code, out, err))
