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


def run(root, results):
    results.add("every builtin is checked and lowered", builtins_without_code(root))
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
