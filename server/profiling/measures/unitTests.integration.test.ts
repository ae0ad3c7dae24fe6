import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { release, tmpdir } from "node:os";
import { join } from "node:path";
import { expect, type TestFunction, test, vi } from "vitest";
import { condition, file, needs, skipWithout } from "@/scripts/needs.mjs";
import { bareEnvironment, fenced as fencedWords, NOBODY } from "./fence";
import { createUnitTests, firstBlock, type UnitTest } from "./unitTests";

const unitTests = createUnitTests([]);
const problem = await unitTests.problem();
const fenced = (name: string, run: TestFunction) => test(name, needs(condition("a fence for commands", problem === null)), run);

const never = new AbortController().signal;
const passes = (code: string, rest: Partial<UnitTest> = {}): Promise<boolean | null> =>
  unitTests.passes({ command: ["sh", "code.txt"], timeoutSeconds: 10, answer: code, test: "", ...rest }, never);
const folders = (): string[] => readdirSync(tmpdir()).filter((name) => name.includes("weir-was-here") || name.includes("unit-test"));

fenced("an answer passes where the command ends with 0, and fails where it ends otherwise", async () => {
  const answer = "Here it is:\n```sh\nadd() { echo $(($1 + $2)); }\n```\nGood luck!\n```sh\nfalse\n```";
  const command = ["sh", "-c", ". ./code.txt; . ./test.txt"];
  expect(await passes(answer, { command, test: "[ $(add 2 3) = 5 ]" })).toBe(true);
  expect(await passes(answer, { command, test: "[ $(add 2 3) = 6 ]" })).toBe(false);
  expect(await passes("exit 3")).toBe(false);
});

fenced("words of a command are arguments, not shell", async () => {
  expect(await passes("x", { command: ["test", "$(exit 1); `false` 'a b'", "=", "$(exit 1); `false` 'a b'"] })).toBe(true);
});

fenced("a command that cannot be begun scores nothing, an answer that ends as though it were one fails", async () => {
  expect(await passes("true", { command: ["no-such-program-here"] })).toBeNull();
  expect(await passes("true", { command: ["./code.txt"] })).toBeNull();
  expect(await passes("no_such_program_here")).toBe(false);
  for (const code of [1, 123, 126, 127, 255]) expect(await passes(`exit ${code}`)).toBe(false);
  expect(await passes("kill -KILL $$")).toBe(false);
  expect(await passes("kill -KILL $PPID; kill -KILL 1; exit 0")).toBe(false);
});

fenced("the network cannot be reached, this machine's own neither", async () => {
  const calls = vi.fn();
  const server = createServer((socket) => {
    calls();
    socket.destroy();
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const socket = `process.getBuiltinModule("node:net").connect(${port}, "127.0.0.1")`;
  const command = ["node", "-e", `${socket}.once("connect", () => process.exit(0)).once("error", () => process.exit(7));`];
  expect(spawnSync(process.execPath, command.slice(1)).status).toBe(0);
  await vi.waitFor(() => expect(calls).toHaveBeenCalledTimes(1));
  expect(await passes("", { command: ["node", "-e", "process.exit(0)"] })).toBe(true);
  expect(await passes("", { command })).toBe(false);
  expect(await passes('[ "$(cat /proc/net/dev | grep -c :)" = 1 ]')).toBe(true);
  expect(calls).toHaveBeenCalledTimes(1);
  server.close();
});

fenced("it sees nothing of the studio: no environment, no files, no processes, no privilege", async () => {
  process.env.WEIR_TEST_SECRET = "secret";
  expect(await passes('[ "$(env | cut -d= -f1 | sort | tr "\\n" " ")" = "HOME LANG PATH PWD TMPDIR " ]')).toBe(true);
  delete process.env.WEIR_TEST_SECRET;
  expect(await passes(`[ ! -e ${process.cwd()} ] && [ ! -e /root ] && [ ! -e /home ] && [ ! -e /etc/passwd ] && [ ! -e /.old/usr ]`)).toBe(
    true,
  );
  expect(await passes(`[ ! -e /proc/${process.pid} ]`)).toBe(true);
  expect(await passes("[ \"$(grep CapEff /proc/self/status | tr -d '\\t')\" = CapEff:0000000000000000 ]")).toBe(true);
  expect(await passes("touch /usr/weir-was-here")).toBe(false);
  expect(await passes('[ "$(pwd)" = /work ] && [ "$(ls | tr "\\n" " ")" = "answer.txt code.txt test.txt " ] && echo x > new.txt')).toBe(
    true,
  );
});

fenced("what it takes is bounded: memory, disk, the size of a file", async () => {
  const node = (script: string) => passes("", { command: ["node", "-e", script] });
  expect(await node("Buffer.alloc(100 * 2 ** 20, 1)")).toBe(true);
  expect(await node("const all = []; for (let i = 0; i < 20; i++) all.push(Buffer.alloc(100 * 2 ** 20, 1))")).toBe(false);
  expect(await passes("head -c 40000000 /dev/zero > big")).toBe(false);
  expect(await passes("for i in 1 2 3 4 5 6 7 8; do head -c 20000000 /dev/zero > big$i || exit 1; done")).toBe(false);
});

fenced("an endless loop ends with its time, and so does what it left behind", async () => {
  const begun = Date.now();
  expect(await passes("while :; do :; done", { timeoutSeconds: 1 })).toBe(false);
  const behind = `${process.pid}.5`;
  expect(await passes(`setsid sleep ${behind} & sleep ${behind}`, { timeoutSeconds: 1 })).toBe(false);
  expect(await passes(`setsid sleep ${behind} & exit 0`)).toBe(true);
  expect(Date.now() - begun).toBeLessThan(10_000);
  await vi.waitFor(() => expect(running(`sleep\0${behind}`)).toBe(0), 3000);
});

/** Asks for no death signal and leaves its session: as the first process within, it would outlive what began it. */
const daemon = (behind: string): readonly string[] => ["setpriv", "--pdeathsig=clear", "--", "setsid", "sleep", behind];

fenced("a command that makes a daemon of itself ends with its time, and when aborted", async () => {
  const behind = `${process.pid}.6`;
  expect(await passes("", { command: daemon(behind), timeoutSeconds: 1 })).toBe(false);
  await vi.waitFor(() => expect(running(`sleep\0${behind}`)).toBe(0), 3000);
  const aborting = new AbortController();
  const run = unitTests.passes({ command: daemon(behind), timeoutSeconds: 60, answer: "", test: "" }, aborting.signal);
  await vi.waitFor(() => expect(running(`sleep\0${behind}`)).toBeGreaterThan(0), 10_000);
  aborting.abort(new Error("ended"));
  await expect(run).rejects.toThrow("ended");
  await vi.waitFor(() => expect(running(`sleep\0${behind}`)).toBe(0), 3000);
});

fenced("a studio that is killed leaves no command behind", async () => {
  const behind = `${process.pid}.7`;
  const [program, words] = fencedWords({ command: daemon(behind), cpuSeconds: 60, hidden: [] });
  const rights = process.getuid?.() === 0 ? { uid: NOBODY, gid: NOBODY } : {};
  const options = {
    cwd: "/",
    env: bareEnvironment,
    detached: true,
    stdio: ["pipe", "ignore", "ignore", "pipe", "pipe", "pipe"],
    ...rights,
  };
  const script = `const child = process.getBuiltinModule("node:child_process").spawn(...${JSON.stringify([program, words, options])});
    for (const at of [0, 4, 5]) child.stdio[at].end();`;
  const studio = spawn(process.execPath, ["-e", script], { stdio: "ignore" });
  await vi.waitFor(() => expect(running(`sleep\0${behind}`)).toBeGreaterThan(0), 10_000);
  studio.kill("SIGKILL");
  await vi.waitFor(() => expect(running(`sleep\0${behind}`)).toBe(0), 3000);
});

fenced("memory that processes share is bounded too", async (context) => {
  skipWithout(context, file("/usr/bin/python3"));
  const python = (...lines: readonly string[]) => passes(lines.join("\n"), { command: ["/usr/bin/python3", "code.txt"] });
  const mapped = (bytes: number) => python("import mmap", `mmap.mmap(-1, ${bytes})`);
  expect(await mapped(2 ** 28)).toBe(true);
  expect(await mapped(2 ** 32)).toBe(false);
  const segments = (count: number) =>
    python("import ctypes", "c = ctypes.CDLL(None)", `for i in range(${count}): assert c.shmget(0, ctypes.c_size_t(2 ** 28), 0o1600) >= 0`);
  expect(await segments(1)).toBe(true);
  const [major = 0, minor = 0] = release().split(".").map(Number);
  // Older kernels do not let the fence bound them.
  if (major > 6 || (major === 6 && minor >= 10)) expect(await segments(3)).toBe(false);
});

fenced("the studio's own folders are empty within, by whatever path they were named", async () => {
  const folder = mkdtempSync(join(tmpdir(), "hidden-"));
  const link = join(folder, "link");
  symlinkSync("/usr/share", link);
  const looking = { command: ["sh", "code.txt"], timeoutSeconds: 10, answer: 'touch /tmp/new && [ -z "$(ls /usr/share)" ]', test: "" };
  for (const hidden of ["/usr/share", "/usr/lib/../share", link]) {
    expect(await createUnitTests([hidden, tmpdir(), "/no/such/folder", "/"]).passes(looking, never)).toBe(true);
  }
  expect(await unitTests.passes(looking, never)).toBe(false);
  rmSync(folder, { recursive: true });
});

fenced("a fork bomb ends", async () => {
  const begun = Date.now();
  expect(await passes("f() { f | f & }; f; while :; do sleep 0.01; f; done", { timeoutSeconds: 2 })).toBe(false);
  expect(Date.now() - begun).toBeLessThan(10_000);
  expect(await passes("true")).toBe(true);
});

fenced("no more than two run at once, those that wait come to their turn, and an aborted one leaves at once", async () => {
  const aborting = new AbortController();
  const slow = { command: ["sleep", "1"], timeoutSeconds: 10, answer: "", test: "" };
  const begun = Date.now();
  const all = [1, 2, 3, 4].map(() => passes("", slow));
  const aborted = unitTests.passes({ ...slow, command: ["sleep", "60"] }, aborting.signal);
  aborting.abort(new Error("ended"));
  await expect(aborted).rejects.toThrow("ended");
  expect(await Promise.all(all)).toEqual([true, true, true, true]);
  expect(Date.now() - begun).toBeGreaterThan(1900);
});

fenced("one that runs is ended when aborted", async () => {
  const aborting = new AbortController();
  const begun = Date.now();
  const run = unitTests.passes({ command: ["sleep", "60"], timeoutSeconds: 100, answer: "", test: "" }, aborting.signal);
  setTimeout(() => aborting.abort(new Error("ended")), 500);
  await expect(run).rejects.toThrow("ended");
  expect(Date.now() - begun).toBeLessThan(5_000);
});

fenced("nothing of it comes to a disk, neither meanwhile nor after", async () => {
  const marker = `marker-${process.pid}`;
  const before = folders();
  const run = passes("touch /tmp/weir-was-here weir-was-here && sleep 1", { test: marker });
  await new Promise((wake) => setTimeout(wake, 700));
  expect(folders()).toEqual(before);
  expect(await run).toBe(true);
  expect(folders()).toEqual(before);
});

fenced("long texts come whole", async () => {
  const long = "x".repeat(5_000_000);
  const command = ["sh", "-c", "[ $(wc -c < answer.txt) = 5000000 ] && [ $(wc -c < code.txt) = 5000000 ] && [ $(wc -c < test.txt) = 7 ]"];
  expect(await passes(long, { command, test: "a test\n" })).toBe(true);
});

test.each([
  ["x = 1", "x = 1"],
  ["So:\n```python\nx = 1\ny = 2\n```\nDone\n```\nz\n```", "x = 1\ny = 2\n"],
  ["~~~\nx\n~~~", "x\n"],
  ["````md\n```\ninner\n```\n````", "```\ninner\n```\n"],
  ["```py\ncut off", "cut off"],
])("the code of %j is its first fenced block", (answer, code) => {
  expect(firstBlock(answer)).toBe(code);
});

/** Processes of this machine whose command line begins with a text: what begins them has it in its own, further on. */
function running(text: string): number {
  const { readFileSync } = process.getBuiltinModule("node:fs");
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").startsWith(text);
    } catch {
      return false;
    }
  }).length;
}
