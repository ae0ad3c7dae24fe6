import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { temporaryDirectory } from "../testing/testGateway";
import { AuditLog } from "./auditLog";

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

it("counts on over starts, tells the newest ten thousand lines, and keeps all", async () => {
  const { log, lines } = await loaded(Array.from({ length: 10_500 }, (_, index) => `${line(index + 1)}\n`).join(""));
  expect([log.page(0).lines[0]?.sequence, log.latest]).toEqual([501, 10_500]);
  await log.note(note);
  const kept = await lines();
  expect(kept.slice(0, -1)).toEqual(Array.from({ length: 10_500 }, (_, index) => line(index + 1)));
  expect(JSON.parse(kept.at(-1) ?? "")).toMatchObject({ sequence: 10_501, ...note });
});

it("leaves lines that another version of the gateway wrote where they are, and counts on after them", async () => {
  const foreign = line(2).replace('"panic"', '"workflow started"');
  const { log, lines } = await loaded(`${line(1)}\n${foreign}\n`);
  await log.note(note);
  expect(log.page(0).lines.map(({ sequence }) => sequence)).toEqual([1, 3]);
  expect((await lines()).slice(0, 2)).toEqual([line(1), foreign]);
});

it("takes a last line that lacks only its end for whole", async () => {
  const { log, lines } = await loaded(`${line(1)}\n${line(2)}`);
  await log.note(note);
  expect((await lines()).map((text) => (JSON.parse(text) as { sequence: number }).sequence)).toEqual([1, 2, 3]);
});

it("that cannot be read says so in a sentence and begins anew", async () => {
  const directory = await temporaryDirectory();
  await mkdir(join(directory, "audit.jsonl"));
  const log = new AuditLog(directory);
  expect(await log.load()).toContain("audit.jsonl cannot be used: EISDIR");
  await expect(log.note(note)).rejects.toThrow("EISDIR");
  expect(log.page(0).lines).toMatchObject([{ sequence: 1, ...note }]);
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
