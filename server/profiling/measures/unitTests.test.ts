import { readdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { expect, test, vi } from "vitest";
import { createUnitTests, firstBlock, type UnitTest } from "./unitTests";

const unitTests = createUnitTests();
const problem = await unitTests.problem();
if (problem !== null) process.stdout.write(`Unit tests of answers are not tested here: ${problem}\n`);
const fenced = test.skipIf(problem !== null);

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

fenced("a command that is not there scores nothing", async () => {
  expect(await passes("true", { command: ["no-such-program-here"] })).toBeNull();
});

fenced("the network cannot be reached, this machine's own neither", async () => {
  const calls = vi.fn();
  const server = createServer((_, response) => {
    calls();
    response.end("ok");
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo;
  const script = `const got = await fetch("http://127.0.0.1:${port}/").then(() => 0, () => 7); process.exit(got);`;
  expect((await fetch(`http://127.0.0.1:${port}/`)).status).toBe(200);
  expect(await passes("", { command: ["node", "--input-type=module", "-e", "process.exit(0)"] })).toBe(true);
  expect(await passes("", { command: ["node", "--input-type=module", "-e", script] })).toBe(false);
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

/** Processes of this machine whose command line holds a text. */
function running(text: string): number {
  const { readFileSync } = process.getBuiltinModule("node:fs");
  return readdirSync("/proc").filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(text);
    } catch {
      return false;
    }
  }).length;
}
