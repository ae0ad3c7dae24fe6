import { spawn, spawnSync } from "node:child_process";
import { existsSync, openSync } from "node:fs";
import { expect, type TestFunction, test } from "vitest";
import { condition, needs, skipWithout } from "@/scripts/needs.mjs";
import { bareEnvironment, fenced, NOBODY } from "./fence";
import { createUnitTests } from "./unitTests";

// Attempts to get out of the fence by system calls, in Perl, which calls them by number. Each ends with 0 where it succeeds.
const perl = "/usr/bin/perl";
const numbers = { x64: { socket: 41, addKey: 248, keyctl: 250 }, arm64: { socket: 198, addKey: 217, keyctl: 219 } }[process.arch as "x64"];
const unitTests = createUnitTests([]);
const problem = numbers === undefined || !existsSync(perl) ? "no perl, or another processor" : await unitTests.problem();
const attempt = (name: string, run: TestFunction) =>
  test(name, needs(condition("a fence for commands, perl, x64 or arm64", problem === null)), run);
const { addKey = 0, keyctl = 0 } = numbers ?? {};

const succeedsInside = (code: string): Promise<boolean | null> =>
  unitTests.passes({ command: [perl, "-e", code], timeoutSeconds: 10, answer: "", test: "" }, new AbortController().signal);
const succeedsOutside = (code: string): boolean => spawnSync(perl, ["-e", code]).status === 0;

const SESSION_KEYRING = -3;
const JOIN = 1;
const SEARCH = 10;
const READ = 11;

attempt("a command has no io_uring, whose operations no filter of system calls sees", async (context) => {
  const ring = "exit(syscall(425, 4, my $parameters = pack('x120')) < 0)";
  skipWithout(context, condition("io_uring", succeedsOutside(ring)));
  expect(await succeedsInside(ring)).toBe(false);
  for (const number of [425, 426, 427]) expect(await succeedsInside(`syscall(${number}, 0, 0, 0, 0, 0, 0); exit($! != 38)`)).toBe(true);
});

attempt("a command opens no vsock, which reaches the host of a virtual machine from every namespace", async (context) => {
  const vsock = "exit(!socket(my $socket, 40, 1, 0))";
  skipWithout(context, condition("vsock", succeedsOutside(vsock)));
  expect(await succeedsInside(vsock)).toBe(false);
});

attempt("a command opens sockets only of families that a network namespace confines", async () => {
  const other = Array.from({ length: 50 }, (_, family) => family).filter((family) => ![1, 2, 10, 16].includes(family));
  const refused = `for my $family (${other.join(",")}) { exit(1) if socket(my $socket, $family, 2, 0) || $! != 97; }`;
  expect(await succeedsInside(refused)).toBe(true);
  const confined = "for my $family (1, 2, 10) { socket(my $socket, $family, 1, 0) or exit(1); } exit(!socket(my $netlink, 16, 3, 0))";
  expect(await succeedsInside(confined)).toBe(true);
});

attempt("a command finds no key of the session that the studio was started in", async (context) => {
  const found = `my $key = syscall(${keyctl}, ${SEARCH}, ${SESSION_KEYRING}, my $type = "user", my $name = "weir-fence-test", 0);
    exit(1) if $key < 0;
    my $value = "\\0" x 6;
    exit(!(syscall(${keyctl}, ${READ}, $key, $value, 6) == 6 && $value eq "secret"));`;
  const [program, words] = fenced({ command: [perl, "-e", found], cpuSeconds: 10, hidden: [] });
  const rights = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const options = { cwd: "/", env: bareEnvironment, stdio: ["pipe", "ignore", "ignore", "pipe", "pipe", "pipe"], ...rights };
  const studio = `const child = process.getBuiltinModule("node:child_process").spawn(...${JSON.stringify([program, words, options])});
    for (const at of [0, 4, 5]) child.stdio[at].end();
    child.stdio[3].resume();
    child.on("close", (code) => process.exit(code));`;
  /** Runs a command in a session whose keyring has a key. */
  const inSession = (command: readonly string[]): Promise<number | null> => {
    const begin = `syscall(${keyctl}, ${JOIN}, 0) >= 0 or exit(99);
      syscall(${addKey}, my $type = "user", my $name = "weir-fence-test", my $value = "secret", 6, ${SESSION_KEYRING}) >= 0 or exit(99);
      exec(@ARGV);`;
    const child = spawn(perl, ["-e", begin, ...command], { stdio: "ignore" });
    return new Promise((ended) => child.once("exit", ended));
  };
  skipWithout(context, condition("keyrings", (await inSession([perl, "-e", found])) === 0));
  // As xargs reports that the command ended with 1.
  expect(await inSession([process.execPath, "-e", studio])).toBe(123);
});

attempt("a command keeps and reads no keys of its own, and joins no keyring", async () => {
  const add = `exit(syscall(${addKey}, my $type = "user", my $name = "mine", my $value = "x", 1, -1) < 0)`;
  expect(await succeedsInside(add)).toBe(false);
  expect(await succeedsInside(`exit(syscall(${keyctl}, ${JOIN}, 0) < 0)`)).toBe(false);
});

attempt("a command cannot call by the processor's other ABI, whose numbers mean other calls", async (context) => {
  skipWithout(context, condition("x64, whose processors have another ABI", process.arch === "x64"));
  // x32: getpid is 39 | 0x40000000.
  expect(await succeedsInside("syscall(0x40000000 | 39); exit(0)")).toBe(false);
});

attempt("without a filter for the processor nothing is run", async () => {
  const devNull = openSync("/dev/null", "r+");
  const exitOf = (loader: (own: string) => string): Promise<number | null> => {
    const [program, words] = fenced({ command: ["true"], cpuSeconds: 10, hidden: [] });
    const at = words.indexOf("fence") + 2;
    const child = spawn(program, words.with(at, loader(words[at] ?? "")), {
      ...{ cwd: "/", env: bareEnvironment as Readonly<Record<string, string>> as NodeJS.ProcessEnv },
      stdio: ["ignore", "ignore", "ignore", devNull, devNull, devNull],
    });
    return new Promise((ended) => child.once("exit", ended));
  };
  expect(await exitOf((own) => own)).toBe(0);
  expect(await exitOf(() => "")).toBe(1);
});
