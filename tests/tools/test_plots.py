"""Pictures that tools draw, beside the rows they were drawn from."""

import html
import json
import re
import shutil
import subprocess
import tempfile
import xml.etree.ElementTree as xml
from pathlib import Path

import features
from functions import NotPossible
from processes import Running
from shared import differing, flowtap_text, run_load

# Put at the end of a page: what a reader sees of the marks, that is, of all that say something when pointed at.
LOOK = """<script>
const seen = [...document.querySelectorAll('svg title')].map(title => {
  const mark = title.parentElement, box = mark.getBoundingClientRect(), page = mark.ownerSVGElement.getBoundingClientRect();
  const inside = box.left >= page.left && box.right <= page.right && box.top >= page.top && box.bottom <= page.bottom;
  return {shape: mark.tagName, title: title.textContent, is_drawn: inside && box.width + box.height > 0 && getComputedStyle(mark).visibility == 'visible'};
});
document.body.innerText = JSON.stringify(seen);
</script>"""
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


def connection_of(row):
    """As a panel is named, but for the time when it began."""
    near, far = (f"[{row[end]}]" if ":" in row[end] else row[end] for end in ("laddr", "raddr"))
    return f"{near}:{row['lport']} -> {far}:{row['rport']}"


def lines_are_drawn_for_each_connection(root, flowtap):
    rows, tree, titles, err = picture_during(flowtap, ("tcp", 2, 1, 0), ".svg", "tcpwin")
    connections = {(connection_of(row), row["born_us"]) for row in rows}
    names = [text.text.split(": ")[1] for text in tree.iter(SPACE + "text") if (text.text or "").startswith("tcpwin: ")]
    strange = [name for name in names if not re.fullmatch(r"(.*) at \d+\.\d{6} s", name) or name.rsplit(" at ", 1)[0] not in dict(connections)]
    return differing("pictures", min(len(connections), 8), len(set(names))) + differing("pictures of nothing", [], strange) + err


def marks_in_a_browser(flowtap, load, *arguments):
    """(the tool's rows, the marks that a browser draws for them, stderr); the page is opened from disk, without a network."""
    if features.IN_GUEST or not shutil.which("chromium"):
        raise NotPossible("there is no browser here: pages are looked at on machines that have Chromium")
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder, "page.html")
        running = Running(flowtap, *arguments, "-f", "json", "--plot", str(page))
        run_load(*load)
        out, err = running.stop()
        page.write_text(page.read_text().replace("</body>", f"{LOOK}</body>"))
        browser = ["unshare", "-n", "chromium", "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder}/profile", "--dump-dom", page.as_uri()]
        shown = subprocess.run(browser, capture_output=True, text=True, timeout=120)
    found = re.search(r"\[.*\]", shown.stdout, re.S)
    if not found:
        return [], [], shown.stdout + shown.stderr
    marks = json.loads(html.unescape(found[0]))
    hidden = [mark for mark in marks if not mark["is_drawn"]]
    return [json.loads(line) for line in out.splitlines()], marks, err + differing("marks that cannot be seen", [], hidden)


def a_browser_shows_every_point(root, flowtap):
    rows, marks, problem = marks_in_a_browser(flowtap, ("tcp", 5, 3, 0), "tcplife")
    shown = sum(1 + int((re.search(r"and (\d+) more here", mark["title"]) or [0, 0])[1]) for mark in marks)
    return problem + differing("points", len(rows), shown) + differing("shapes", {"circle"}, {mark["shape"] for mark in marks})


def a_browser_shows_every_cell(root, flowtap):
    rows, marks, problem = marks_in_a_browser(flowtap, ("tcp", 7, 4, 6), "tcpconnect")
    counted = sum(int(mark["title"].split("\n")[-1]) for mark in marks)
    return problem + differing("sum of the cells", len(rows), counted) + differing("shapes", {"rect"}, {mark["shape"] for mark in marks})


def a_browser_shows_every_line(root, flowtap):
    rows, marks, problem = marks_in_a_browser(flowtap, ("tcp", 2, 1, 0), "tcpwin")
    found = [re.search(r"ELAPSED\(us\) (\S+)\n.*BORN\(us\) (\S+)\nSOCKET (\S+)\n", mark["title"], re.S) for mark in marks]
    told = {(float(one[1]), (float(one[2]), one[3])) for one in found}
    connections = {connection for _, connection in told}
    rows = {(row["elapsed_us"], (row["born_us"], row["socket"])) for row in rows if (row["born_us"], row["socket"]) in connections}
    return problem + differing("rows without a mark", set(), rows - told) + differing("marks without a row", set(), told - rows) + differing("any mark", True, bool(marks))


def a_picture_may_be_asked_for_before_the_tool(root, flowtap):
    problem = ""
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder, "x.svg")
        code, _, err = flowtap_text(flowtap, "--plot", str(picture), "tcplife", "--duration", "1")
        problem += differing("answer", (0, "", True), (code, err, picture.exists()))
    code, _, err = flowtap_text(flowtap, "--plot", "x.svg", "tcptop")
    return problem + differing("tcptop", (2, "error: tcptop has nothing that --plot can draw\n"), (code, err))


def a_script_without_a_plot_is_refused(root, flowtap):
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder, "x.svg")
        code, _, err = flowtap_text(flowtap, "--plot", str(picture), "-e", "begin { }")
        wanted = "error: the script does not say what --plot draws\nhint: declare it, e.g. plot heat @usecs in us;\n"
        return differing("answer", (1, wanted, False), (code, err, picture.exists()))


def a_picture_that_cannot_be_written_is_told_at_once(root, flowtap):
    code, out, err = flowtap_text(flowtap, "tcplife", "--plot", "/no/such/place.svg")
    return differing("answer", (2, "", "error: cannot write '/no/such/place.svg': No such file or directory\n"), (code, out, err))


def pictures_of_unknown_kinds_are_refused(root, flowtap):
    problem = ""
    for arguments, wanted in ((["--plot", "x.png"], "the name must end in .svg (a picture) or .html (a page)"),
                              (["--plot", "x.svg", "--plot", "y.svg"], "option '--plot' is given twice, with 'x.svg' and 'y.svg'"),
                              (["-o", "/tmp/no.svg", "--plot", "/tmp/no.svg"], "-o and --plot name the same file")):
        for words in (["tcplife", *arguments], [*arguments, "tcplife"]):
            code, out, err = flowtap_text(flowtap, *words)
            problem += "" if code == 2 and wanted in err else f"  {words}: {code} {err}"
    return problem + ("  a file was left behind" if Path("/tmp/no.svg").exists() else "")


OWN = """// own - a tool of the test

plot %s;
table calls { time TIME "when"; us LAT "how long"; comm COMM "who"; }
interval:s:1000 { emit calls(nsecs, 5us, comm); @usecs = hist(5); }
"""


def mistakes_in_a_plot_leave_the_picture_alone(root, flowtap):
    problem = ""
    with tempfile.TemporaryDirectory() as folder:
        picture = Path(folder, "picture.svg")
        picture.write_text("old")
        for plot, wanted in {"scatter LTA": "no table has a column 'LTA'", "heat @usec in us": "there is no map '@usec'",
                             "scatter LAT by COMM": "", "heat @usecs in us": ""}.items():
            Path(folder, "own.bt").write_text(OWN % plot)
            code, out, err = flowtap_text(flowtap, "own", "--dry-run", "--plot", str(picture), FLOWTAP_TOOLS=folder)
            is_right = wanted in err and code == 1 if wanted else code == 0
            problem += "" if is_right and picture.read_text() == "old" else f"  {plot}: {code} {err} {picture.read_text()}"
    return problem


def scripts_are_drawn_like_tools(root, flowtap):
    with tempfile.TemporaryDirectory() as folder:
        picture, script = Path(folder, "picture.svg"), Path(folder, "own.bt")
        script.write_text((OWN % "scatter LAT by COMM").replace("interval:s:1000", "begin"))
        code, out, err = flowtap_text(flowtap, "--plot", str(picture), str(script))
        return "" if code == 0 and "<circle" in picture.read_text() else f"  {code} {out} {err}"


def histograms_are_drawn_without_being_asked_for(root, flowtap):
    rows, tree, titles, err = picture_during(flowtap, ("tcp", 20, 4, 0), ".svg", "softirqs")
    return ("" if titles else "  the picture is empty") + err
