"""Rules about the source tree itself: which folder may include which, and what texts may not say."""

import re

# folder -> folders it may include, beside itself and what those include.
MAY_INCLUDE = {
    "base": [],
    "source": ["base"],
    "types": ["base"],
    "arch": ["types"],
    "target": ["arch"],
    "lang": ["source"],
    "builtins": ["base"],
    "bpf": ["types", "source", "builtins"],
    "sema": ["lang", "bpf", "target"],
    "ir": ["bpf"],
    "lower": ["sema", "ir"],
    "codegen": ["ir", "bpf"],
    "compiler": ["lower", "codegen"],
    "symbols": ["arch"],
    "privileges": ["base"],
    "kernel": ["bpf", "symbols", "target", "privileges"],
    "live": ["kernel"],
    "load": ["kernel"],
    "attach": ["kernel"],
    "read": ["kernel"],
    "output": ["types"],
    "runtime": ["live", "load", "attach", "read", "output"],
    "plot": ["output"],
    "generic": ["base"],
    "cli": ["runtime", "compiler", "plot", "generic"],
}

# What tests need besides: they load a program before they attach it, read what it wrote, and ask what the machine has.
TESTS_MAY_INCLUDE = {"load": ["live", "read"], "attach": ["live", "load"], "read": ["load"]}

# Where other programs are started: commands of system(), the one of -c, and flowtap itself in the tutorial. No script text reaches a shell from elsewhere.
MAY_START = {"runtime/shell.cc": "posix_spawn", "runtime/child.cc": "execvp", "cli/tutorial.cc": "posix_spawn"}
STARTS = re.compile(r"\b(popen|posix_spawnp?|execl[pe]?|execvp?e?|execveat|wordexp)\(|\bstd::system\(|[^:\w.>]::system\(")

# Functions that throw where the world says no. The recursive iterator is there for its increment(error).
THROWS = re.compile(r"std::sto(?:i|l|ll|ul|ull|f|d|ld)\(|filesystem::directory_iterator|fs::directory_iterator|"
                    r"fs::(?:absolute|canonical|current_path|equivalent|exists|file_size|is_\w+|read_symlink|relative|weakly_canonical)\((?![^;]*(?:error|ignored)\))")

# Only src/arch/ knows processors: their names, registers of x86-64 (those that are no words or variables), what system headers call them
# and the breakpoint. Tests may say what they expect.
OF_A_PROCESSOR = re.compile(r'"%?(?:r(?:8|9|1[0-5]|[abcd]x|[sd]i|[bs]p|ip)|e(?:[abcd]x|[sd]i|[bs]p|ip)|orig_r?ax|[er]flags)"|'
                            r"x86|aarch64|amd64|arm64(?!_sys_)|\bEM_[A-Z0-9_]+\b|\buser_regs_struct\b|\bPTRACE_[GS]ETREGS\b|\basm/|\b0xcc\b|\bkSyscallNames\b")
# The size of a page is that of the machine.
PAGE_SIZE = re.compile(r"\b_SC_PAGE_?SIZE\b|\bPAGE_SIZE\b|\bgetpagesize\b")

# Where a probe kind is named outside of its row, and how often: what flowtap runs itself is run by kind. All else asks the row.
PROBE_KINDS = {"bpf/image.h": 1, "cli/driver.cc": 2, "cli/script_tests.cc": 2, "lower/frame.cc": 1, "lower/functions.cc": 1, "runtime/loop.cc": 3,
               "runtime/session.cc": 2, "sema/checked.h": 1, "sema/checker.cc": 1}
# A new family of probes is expanded, attached and listed; the compiler finds what is missing. A few families are looked for elsewhere, too.
FAMILY_PLACES = {"attach/attach.cc", "sema/attach_points.cc", "cli/list.cc"}
MORE_OF_FAMILIES = {"Function": 6, "Iterator": 4, "Marker": 3, "RawTracepoint": 2, "Special": 2, "Tracepoint": 1, "Watchpoint": 1}
# A builtin is named in one file of the checker, when its row does not say all, and one of the lowering. These are looked for elsewhere, too.
MORE_OF_BUILTINS = {"Args": 8, "ArgN": 4} | dict.fromkeys(
    ["Clear", "Comm", "Config", "Delete", "Exit", "InPrefix", "LeaderTid", "Len", "Nsecs", "Pcomm", "Pid", "Ppid", "Print", "Printf", "Retval", "Str", "Tid",
     "Zero"], 3)
# An output format is a writer and a row.
FORMAT_PLACES = {"csv": {"csv.h", "csv.cc", "csv_writer.h", "csv_writer.cc", "formats.h"}}
# No object that everybody holds: functions of a class in a header. The parser has one for each rule of the grammar.
MOST_METHODS = 45
MORE_METHODS = {"Parser": 100}
CLASS = re.compile(r"\b(?:class|struct) (\w+)(?: final)?(?: : [^{;]*)?\s*\{")

FORBIDDEN = re.compile(r"\b(TODO|FIXME|XXX)\b")


def reachable(folder):
    found, todo = {folder}, [folder]
    while todo:
        for other in MAY_INCLUDE[todo.pop()]:
            if other not in found:
                found.add(other)
                todo.append(other)
    return found


def include_problem(path, folder):
    allowed = reachable(folder) | set(TESTS_MAY_INCLUDE.get(folder, []) if path.stem.endswith("_test") else [])
    for line in path.read_text().split("\n"):
        match = re.match(r'#include "([a-z_]+)/', line)
        if match and match[1] not in allowed:
            return f"  includes {match[1]}/, which {folder}/ may not"
    return ""


def repeated_names(root):
    """A file name is enough to know which file is meant."""
    seen = {}
    for path in sorted((root / "src").glob("*/*")):
        seen.setdefault(path.name, []).append(path.parent.name)
    return "".join(f"  {name} is in {', '.join(folders)}\n" for name, folders in seen.items() if len(folders) > 1)


def dead_references(root):
    """Names of source files in documents and comments, in comments also without their folder."""
    sources = {f"{path.parent.name}/{path.name}" for path in (root / "src").glob("*/*")}
    names = {name.split("/")[1] for name in sources} | {path.name for path in (root / "tests").rglob("*")}
    folders = "|".join(MAY_INCLUDE)
    problem = ""
    for path in [*root.glob("*.md"), *(root / "docs").glob("*.md"), *(root / "src").glob("*/*"), *(root / "tests").glob("*.py")]:
        text = re.sub(r"^#include.*$", "", path.read_text(), flags=re.M)
        found = {match[1] for match in re.finditer(rf"(?<![\w/.-])(?:src/)?((?:{folders})/[a-z0-9_]+\.(?:cc|h))\b", text)} - sources
        if path.suffix in (".cc", ".h"):
            comments = "\n".join(re.findall(r"//.*", text))
            found |= {match[1] for match in re.finditer(r"(?<![\w/.<\"-])([a-z0-9_]+\.(?:cc|h))\b", comments)} - names
        problem += "".join(f"  {path.relative_to(root)} speaks of {name}, which is not there\n" for name in sorted(found))
    return problem


def helpers_without_a_row(root):
    """Every helper that generated code may call is a requirement with a name and a version."""
    rows = set(re.findall(r"\bBPF_FUNC_(\w+)", (root / "src/target/feature.cc").read_text()))
    used = {}
    for folder in ("lower", "codegen", "ir"):
        for path in sorted((root / "src" / folder).glob("*.cc")):
            used |= dict.fromkeys(re.findall(r"\bBPF_FUNC_(\w+)", path.read_text()), path.name)
    return "".join(f"  BPF_FUNC_{name} of {file} has no row in src/target/feature.cc\n" for name, file in used.items() if name not in rows)


def builtins_without_code(root):
    """Rows of builtins that nobody lowers or knows as a constant, and those with a type or an argument of their own that nobody checks."""
    rows = re.findall(r"\{(Fn::\w+),(.*?)\},\n", (root / "src/builtins/builtins.h").read_text(), re.S)
    text = {folder: "".join(path.read_text() for path in (root / "src" / folder).glob("*.cc")) for folder in ("sema", "lower")}
    folded = (root / "src/sema/infer_folded.cc").read_text()
    problem = "" if len(rows) > 100 else "  no rows were found\n"
    for name, row in rows:
        word = re.compile(name + r"\b")
        if "BuiltinFamily::Aggregation" not in row and not word.search(text["lower"]) and not word.search(folded):
            problem += f"  {name} is neither lowered nor a constant\n"
        if ("Yields::" not in row or "Yields::Own" in row) and not word.search(text["sema"]):
            problem += f"  {name} has no type\n"
    return problem


def code_of(path):
    """Its text without comments and without what stands in quotes."""
    text = re.sub(r'R"\w*\((?:.|\n)*?\)\w*"', '""', path.read_text())
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', re.sub(r"//.*", "", text))


def sources(root):
    """Path from src/ -> code, without tests."""
    paths = [path for path in sorted((root / "src").glob("*/*")) if path.suffix in (".cc", ".h")]
    return {f"{path.parent.name}/{path.name}": code_of(path) for path in paths if not path.stem.endswith("_test") and "for_test" not in path.stem}


def mentions(code, word):
    """Enumerator -> the files outside of builtins/ that name it."""
    found = {}
    for file, text in code.items():
        for name in [] if file.startswith("builtins/") else re.findall(rf"\b{word}::(\w+)", text):
            found.setdefault(name, {}).setdefault(file, 0)
            found[name][file] += 1
    return found


def too_many_places(code):
    """What a new builtin, probe kind or output format touches, counted where those of today are named."""
    problem = ""
    kinds = {}
    for files in mentions(code, "ProbeKind").values():
        for file, number in files.items():
            kinds[file] = kinds.get(file, 0) + number
    for file in sorted(set(kinds) | set(PROBE_KINDS)):
        if kinds.get(file, 0) != PROBE_KINDS.get(file, 0):
            problem += f"  {file} names probe kinds {kinds.get(file, 0)} times, expected {PROBE_KINDS.get(file, 0)} (PROBE_KINDS)\n"
    for family, files in mentions(code, "ProbeFamily").items():
        more = sorted(set(files) - FAMILY_PLACES)
        if len(more) != MORE_OF_FAMILIES.get(family, 0):
            problem += f"  ProbeFamily::{family} is also named in {', '.join(more) or 'no other file'} (MORE_OF_FAMILIES)\n"
    for builtin, files in mentions(code, "Fn").items():
        most = MORE_OF_BUILTINS.get(builtin, 2)
        if len(files) > most or (builtin in MORE_OF_BUILTINS and len(files) < most):
            problem += f"  Fn::{builtin} is named in {', '.join(sorted(files))} (MORE_OF_BUILTINS)\n"
    for name, expected in FORMAT_PLACES.items():
        files = {file.split("/")[1] for file, text in code.items() if re.search(name, text, re.I)}
        if files != expected:
            problem += f"  the format {name} is known to {', '.join(sorted(files))} (FORMAT_PLACES)\n"
    return problem


def methods(text, start):
    """How many functions a class declares whose body begins at `start`."""
    depth, own = 1, ""
    for char in text[start:]:
        depth += (char == "{") - (char == "}")
        if depth == 0:
            break
        if depth == 1:
            own += ";" if char == "}" else char
    return sum(bool(re.search(r"\w\s*\(", part.split("=")[0])) for part in own.split(";"))


def large_classes(code):
    problem, seen = "", set()
    for file, text in code.items():
        for match in CLASS.finditer(text) if file.endswith(".h") else []:
            number, most = methods(text, match.end()), MORE_METHODS.get(match[1], MOST_METHODS)
            seen.add(match[1])
            if number > most:
                problem += f"  class {match[1]} of {file} has {number} functions, at most {most} are expected\n"
    return problem + "".join(f"  there is no class {name} (MORE_METHODS)\n" for name in MORE_METHODS if name not in seen)


AGGREGATION = re.compile(r"(@\w+)(?:\[[^;{}]*?\])?\s*=\s*(?:count|sum|min|max|avg|stats|hist|lhist|tseries)\(")


def with_imports(path, seen):
    """The text of a script and of what it imports, without comments."""
    if path in seen:
        return ""
    seen.add(path)
    text = re.sub(r"//.*", "", path.read_text())
    return text + "".join(with_imports(path.parent / name, seen) for name in re.findall(r'^import "([^"]+)"', text, re.M))


def reports_that_are_not_exact(root):
    """What a tool counts for its reports is `per report`, so that every event is in one of them, with all its columns. A map that a macro
    counts in by a parameter has two names, of which the report uses the other."""
    problem = ""
    for path in sorted((root / "tools").glob("*.bt")):
        text = with_imports(path, set())
        report = "".join(match[0] for match in re.finditer(r"^( *)self:report(?:[^\n]*}$|.*?^\1})", text, re.M | re.S))
        macros = re.findall(r"^macro (\w+)\(([^)]*)\)(.*?)^}", text, re.M | re.S)
        report += "".join(body for name, _, body in macros if name in report)
        counting = [name for name, parameters, body in macros if set(AGGREGATION.findall(body)) & set(re.findall(r"@\w+", parameters))]
        handed = [name for macro in counting for call in re.findall(rf"\b{macro}\(([^;]*)\);", text) for name in re.findall(r"@\w+", call)]
        counted = (set(AGGREGATION.findall(text)) | set(handed)) & set(re.findall(r"@\w+", report))
        wrong = counted - set(re.findall(r"^let (@\w+).* per report;", text, re.M))
        problem += "".join(f"  {path.name}: {name} is read by reports and is not 'per report'\n" for name in sorted(wrong))
    return problem


# What may stand at the left margin of a library: no probes outside of plans, which only a tool that names them attaches.
OF_A_LIBRARY = re.compile(r"(macro|let|plan|table|enum|struct|#define) ")


def library_problem(path):
    lines = re.sub(r"//.*", "", path.read_text()).split("\n")
    probes = [line for line in lines if re.match(r"[^\s}]", line) and not OF_A_LIBRARY.match(line)]
    return f"  attaches probes where it is imported: {probes[0]}" if probes else ""


# A tool's script is read to learn from: at most 80 lines of 100 columns behind the head, but for what columns mean. These are
# longer, or have as many wider lines; the lists may only become shorter.
LONG_TOOLS = {
    "backlog": 162, "biolatency": 82, "gethostlatency": 86, "skbdrop": 143, "skblife": 132, "so1stbyte": 105, "soconnlat": 177,
    "sofdsnoop": 93, "solife": 117, "sormem": 156, "superping": 117, "tcpnagle": 94, "tcpretrans": 103, "tcpsynbl": 109, "tcptop":
    191, "tcpwin": 85, "udplife": 121,
}
WIDE_TOOLS = {
    "backlog": 1, "bioerr": 1, "filetype": 8, "gethostlatency": 1, "ipecn": 1, "netsize": 1, "rxcpu": 1, "skblife": 1,
    "so1stbyte": 1, "socksize": 1, "sockstat": 1, "sofamily": 1, "sofdsnoop": 1, "softirqs": 3, "solife": 2, "solisten": 1,
    "soprotocol": 1, "sormem": 3, "superping": 1, "tcpbind": 1, "tcpgraph": 1, "tcplife": 1, "tcpnagle": 1,
    "tcpretrans": 1, "tcpsynbl": 1, "tcpwin": 1, "udplife": 2,
}


def tool_problem(path):
    lines = path.read_text().rstrip().split("\n")
    head = next(i for i, line in enumerate(lines) if not re.match(r"//|#!", line))
    body = "\n".join(lines[head:]).strip().split("\n")
    wide = [line for line in body if len(line) > 100 and not re.match(r' +(enum )?\w+ +\w+ +"', line)]
    problem = ""
    for what, found, most, known in (("lines", len(body), 80, LONG_TOOLS), ("wide lines", len(wide), 0, WIDE_TOOLS)):
        allowed = known.get(path.stem, most)
        if found > allowed:
            problem += f"  has {found} {what}, more than {allowed}\n"
        elif allowed > most and found < allowed:
            problem += f"  has {found} {what}: lower its number {allowed} in tests/structure.py\n"
    return problem


def run(root, results):
    code = sources(root)
    results.add("builtins, probe kinds and formats are known in few places", too_many_places(code))
    results.add("no class is held by everybody", large_classes(code))
    results.add("every builtin is checked and lowered", builtins_without_code(root))
    results.add("reports of tools are exact", reports_that_are_not_exact(root))
    for path in sorted((root / "tools").glob("*.bt")):
        results.add(f"size of {path.name}", tool_problem(path))
    for path in sorted((root / "tools/lib").glob("*.bt")):
        results.add(f"library {path.name} exports only", library_problem(path))
    results.add("every helper is a feature", helpers_without_a_row(root))
    results.add("no file name is there twice", repeated_names(root))
    results.add("files that texts name exist", dead_references(root))
    for path in sorted((root / "src").glob("*/*")):
        if path.suffix not in (".cc", ".h"):
            continue
        folder = path.parent.name
        problem = "" if folder in MAY_INCLUDE else f"  folder {folder}/ has no line in tests/structure.py"
        problem = problem or include_problem(path, folder)
        text = path.read_text()
        if not problem and FORBIDDEN.search(text):
            problem = "  holds unfinished work"
        head = text.split("\n", 3)
        if not problem and path.suffix == ".cc" and not path.stem.endswith("_test") and not head[0].startswith("//"):
            problem = "  does not begin with what it is for"
        code = re.sub(r"//.*", "", text)
        if not problem and not path.stem.endswith("_test") and (call := THROWS.search(code)):
            problem = f"  calls what throws: {call[0]}"
        is_test = path.stem.endswith("_test")
        if not problem and not is_test and folder != "arch" and "for_test" not in path.stem and (word := OF_A_PROCESSOR.search(code)):
            problem = f"  knows a processor: {word[0]}; that belongs to src/arch/"
        if not problem and path.name != "page.h" and (word := PAGE_SIZE.search(code)):
            problem = f"  asks for the size of a page by itself: {word[0]}; base/page.h has it"
        started = {match[1] or match[0].strip() for match in STARTS.finditer(code)}
        if not problem and not path.stem.endswith("_test") and started - {MAY_START.get(f"{folder}/{path.name}")}:
            problem = f"  starts a program ({', '.join(started)})"
        results.add(f"structure of {path.relative_to(root)}", problem)
