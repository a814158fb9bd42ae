"""Every kind of expression in every place: the compiler refuses it with a message, or the kernel takes the program."""

import os
import random
import subprocess

import features

EXPRESSIONS = [
    "()", "clear(@m)", "exit()", 'printf("a")', "time()", "(1,2)", '(1,"a",(2,3))', '(a=1,b="x")', "comm", "pid", '"text"', "-1", "0",
    "18446744073709551615", "true", "nsecs", "username", "kstack", "ustack", "kstack(0)", "kstack(raw,1)", "ustack(build_id,2)", "str(0)", "str(0,4)",
    "buf(0,4)", "buf((void *)1,0)", "ntop(0)", 'ntop(pton("::1"))', 'pton("1.2.3.4")', 'macaddr(pton("::1"))', "ksym(0)", "usym(0)", "cgroup_path(1)",
    'strftime("%H",nsecs)', "curtask", "curtask.comm", "curtask.parent", "*curtask", "curtask.pid", "&$v", "&@s", "$v", "$t", "$t.1", "$r.b", "$str",
    "$p", "*$p", "$p.comm", "@s", "@m[1]", "@agg[1]", "@h[1]", "@st[1]", "@tup[1]", "@str[1]", "@stk[1]", "@e", "has_key(@m,1)", "delete(@m,1)",
    "len(@m)", "len(kstack)", "strerror(1)", "signal_name(9)", "syscall_name(0)", "probe", "func", "cpid", "ctx", "args", "retval", "arg0",
    "sizeof(1)", "sizeof(struct task_struct)", "offsetof(struct task_struct, pid)", "(uint8)300", "(int8)-1", '(string[5])"abc"',
    "(struct task_struct *)0", "(uint8[8])1", 'strlen("abc")', 'str_concat("a","b")', 'strstr("abc","b")', "bswap((uint16)1)", "is_ptr(1)", "cgroup",
    "rand", "jiffies", "kptr(1)", "uptr(1)", "container_of(curtask, struct task_struct, pid)", "is_err(curtask)", "path((struct path *)0)",
    'percpu_kaddr("runqueues")', 'kaddr("init_task")', "{ 1 }", "{ let $q = 1; $q }", "{ }", "if (pid) { 1 } else { 2 }",
    'if (pid) { "a" } else { "bcd" }', 'pid ? "a" : "bcd"', "AF_INET", "TCP_CLOSE", "(enum pid_type)1", "f(1)", "g()", "m(1)", "count()", "sum(1)",
    "hist(1)", "nope", "typeinfo(1)", "1 ?: 2", "comptime 3", "$v++", "--$v", "socket_cookie(0)", 'skboutput("/dev/null",0,1,0)', "$c",
]  # fmt: skip

# X is the expression.
PLACES = [
    "$x = X;", "@x = X;", "@x[X] = 1;", "@x[1] = X;", "@x[X, 1] = X;", "print(X);", "print((X, X));", 'printf("%s", X);', 'printf("%d", X);',
    'printf("%x %s", X, X);', 'printf("%p", X);', 'printf("%r", X);', "if (X) { }", "while (X) { break; }", "unroll (X) { }", "for ($i : 0..X) { }",
    "for ($i : X..3) { }", "for ($i : @m) { $x = X; }", "$x = !X;", "$x = -X;", "$x = ~X;", "$x = *X;", "$x = X + 1;", "$x = 1 + X;", "$x = X == X;",
    "$x = X < X;", "$x = X && X;", "$x = X ? X : X;", "$x = X ?: X;", "$x = (uint64)X;", "$x = (int8)X;", "$x = (string[3])X;",
    "$x = (struct task_struct *)X;", "$x = X.a;", "$x = X.0;", "$x = X[0];", "$x = X[X];", "$x = ((uint64 *)pid)[X];", "$x = str(X);",
    "$x = str(X, 3);", '$x = str("a", X);', "$x = buf(X, 3);", "$x = strlen(X);", "$x = ntop(X);", "$x = macaddr(X);", "$x = ksym(X);",
    "$x = bswap(X);", "$x = strncmp(X, X, 2);", '$x = strcontains(X, "a");', "$x = str_concat(X, X);", "@x = count(X);", "@x = sum(X);",
    "@x = hist(X);", "@x = lhist(X, 0, 10, 1);", "@x = stats(X);", "@x[X] = count();", "@x = tseries(X, 1s, 4);", "$x += X;", "$v += X;", "@n += X;",
    "@n = X; @n++;", "$x = sizeof(X);", "let $y : typeof(X) = X;", "let $y : uint8 = X;", "let $y : string[4] = X;", "$x = f(X);", "$x = m(X);",
    "exit(X);", "delete(@m, X);", "$x = has_key(@m, X);", "$x = has_key(@tup, X);", "$x = find(@m, X, $w);", "print(@m, X);", "emit T(X);",
    "emit T2(X);", "return X;", 'strftime("%H", X);', "X;", "$x = (X,);", "$x = (a = X);", "$x = (X, (X, X));",
    "$a = X; $b = $a; print($b); @q[$b] = $a;", "@q[1] = X; print(@q[1]); $z = @q[1];", 'assert(X, "a");', '$x = in_prefix(X, "10.0.0.0/8");',
    "$x = cgroup_path(X);", "$x = strerror(X);", "$x = signal_name(X);", "$x = is_ptr(X);", "$x = typeinfo(X).base_ty;",
    "$x = container_of(X, struct task_struct, pid);", "$x = X << X;", "$x = X / X;", "$x = X % 0;", "$x = curtask + X;", "join(X);", 'cat("%s", X);',
    "$x = kstack(X);", "$x = path(X);", "$x = &X;", "X = 1;", "X++;", "$x = comptime (X);", "if comptime (X) { } else { }", "for ($k : X) { }",
    "print(X, X);", "clear(X);", "zero(X);", "$x = len(X);", "$x = pid == X || X;", "$x = { X };", "$x = if (pid) { X } else { X };",
    '$x = percpu_kaddr("runqueues", X);', "$x = memcmp(X, X, 4);", "$x = uptr(X);", "$x = is_err(X);", "$x = socket_cookie(X);",
]  # fmt: skip

# Where it stands, and what it can read there.
PROBES = {
    "begin": [],
    "interval:s:100": [],
    "rawtracepoint:sched_switch": ["args.prev", "args.prev.comm", "args.preempt", "args.prev.__state"],
    "tracepoint:syscalls:sys_enter_openat": ["args.filename", "args.flags", "str(args.filename)"],
    "iter:task": ["ctx.task", "ctx.meta", "ctx.task.comm"],
}
HEAD = """config = { unstable_typeinfo = enable }
table T { string A "a"; }
table T2 { int A "a"; }
macro m(x) { x }
fn f($x : uint64) : uint64 { return $x; }
fn g() : void { }
"""
VALUES = """$v = 1; $t = (1, "ab"); $r = (a = 1, b = "xy"); $str = "hello"; $p = curtask; $c = curtask.comm; @s = 1; @m[1] = 1; @agg[1] = count();
@h[1] = hist(1); @st[1] = stats(1); @tup[1] = (1, "a"); @str[1] = comm; @stk[1] = kstack; @e = 5;"""


def expressions_are_refused_or_taken_anywhere(flowtap):
    """COMBINATIONS=20000 tries more of them, SEED=2 others."""
    everything = [(probe, text, place) for probe, own in PROBES.items() for text in EXPRESSIONS + 5 * own for place in PLACES]
    random.Random(int(os.environ.get("SEED", "1"))).shuffle(everything)
    taken = 0
    for probe, text, place in everything[: int(os.environ.get("COMBINATIONS", 1000 // features.SLOWER))]:
        statement = place.replace("X", text)
        script = f"{HEAD}{probe} {{ {VALUES} {statement} }}"
        command = [flowtap, "-q", "--dry-run", "--no-warnings", "-"]
        done = subprocess.run(command, input=script, capture_output=True, text=True, timeout=60 * features.SLOWER)
        taken += done.returncode == 0
        if done.returncode != 0 and not (done.returncode == 1 and "error: " in done.stderr):
            return f"{probe}: {statement}: exit code {done.returncode} {done.stderr[:300]}"
    return "" if taken else "nothing was taken"
