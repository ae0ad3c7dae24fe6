import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { AuditLog } from "./auditLog";
import { temporaryDirectory } from "./testGateway";

const line = (sequence: number) => JSON.stringify({ sequence, atMs: 1, by: "ada", action: "panic", detail: "x" });
const note = { by: "ada", action: "panic lifted", detail: "It is over." } as const;

async function loaded(text: string | null) {
  const directory = await temporaryDirectory();
  const path = join(directory, "audit.jsonl");
  if (text !== null) await writeFile(path, text);
  const log = new AuditLog(directory);
  await log.load();
  return { log, lines: async () => (await readFile(path, "utf8")).trimEnd().split("\n") };
}

it("counts on over starts, and keeps the newest ten thousand lines", async () => {
  const { log, lines } = await loaded(Array.from({ length: 10_500 }, (_, index) => `${line(index + 1)}\n`).join(""));
  expect(await lines()).toEqual(Array.from({ length: 10_000 }, (_, index) => line(index + 501)));
  await log.note(note);
  expect(log.latest).toBe(10_501);
  expect((await lines()).length).toBe(10_001);
  expect(JSON.parse((await lines()).at(-1) ?? "")).toMatchObject({ sequence: 10_501, ...note });
});

it("gives a thousand lines at a time, oldest first", async () => {
  const { log } = await loaded(Array.from({ length: 2500 }, (_, index) => `${line(index + 1)}\n`).join(""));
  const all: number[] = [];
  for (let after = 0; ; after = all.at(-1) ?? 0) {
    const page = log.page(after);
    expect([page.latest, page.lines.length <= 1000]).toEqual([2500, true]);
    if (page.lines.length === 0) break;
    all.push(...page.lines.map(({ sequence }) => sequence));
  }
  expect(all).toEqual(Array.from({ length: 2500 }, (_, index) => index + 1));
});

it("leaves out the half of a line that a crash left, so that the next is whole", async () => {
  const { log, lines } = await loaded(`${line(1)}\n${line(2).slice(0, 20)}`);
  await log.note(note);
  expect((await lines()).map((text) => (JSON.parse(text) as { sequence: number }).sequence)).toEqual([1, 2]);
});

it("writes lines noted at once in their order, and begins where there is no file", async () => {
  const { log, lines } = await loaded(null);
  await Promise.all(Array.from({ length: 50 }, () => log.note(note)));
  expect((await lines()).map((text) => (JSON.parse(text) as { sequence: number }).sequence)).toEqual(
    Array.from({ length: 50 }, (_, index) => index + 1),
  );
});
