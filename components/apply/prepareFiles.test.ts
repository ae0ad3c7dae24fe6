import { expect, it } from "vitest";
import type { GeneratedFile } from "@/server/contracts/studio";
import { prepareFile, prepareFiles } from "./prepareFiles";

const numbered = (count: number, change: Readonly<Record<number, string>> = {}): string =>
  Array.from({ length: count }, (_, index) => change[index + 1] ?? `line ${index + 1}`).join("\n");

const file = (name: string, before: string | null, after: string | null): GeneratedFile => ({ name, language: "yaml", before, after });

it("shows a change with three lines around it and says how many it leaves out", () => {
  const shown = prepareFile(file("a.yaml", numbered(20), numbered(20, { 10: "replicas: 2" })), true);
  expect(shown).toMatchObject({ sign: "~", added: 1, removed: 1, skippedAtEnd: 7, left: 0, matched: true });
  expect(shown.hunks.map(({ skipped, lines }) => [skipped, lines.length])).toEqual([[6, 8]]);
  expect(shown.hunks[0]?.lines[3]).toEqual({ sign: "-", text: "line 10", before: 10, after: null });
  expect(shown.hunks[0]?.lines[4]).toEqual({ sign: "+", text: "replicas: 2", before: null, after: 10 });
});

it("joins changes that are close and parts those that are not", () => {
  const close = prepareFile(file("a", numbered(40), numbered(40, { 10: "x", 15: "y" })), true);
  const apart = prepareFile(file("a", numbered(40), numbered(40, { 10: "x", 30: "y" })), true);
  expect([close.hunks.length, apart.hunks.length]).toEqual([1, 2]);
  expect(apart.hunks[1]?.skipped).toBe(13);
});

it("shows every line when unchanged ones are not hidden", () => {
  const shown = prepareFile(file("a", numbered(20), numbered(20, { 10: "x" })), false);
  expect(shown.hunks.map(({ lines }) => lines.length)).toEqual([21]);
  expect(shown.skippedAtEnd).toBe(0);
});

it("puts files that change first and leaves equal ones out until they are asked for", () => {
  const files = [file("same", "a", "a"), file("new", null, "a"), file("gone", "a", null)];
  expect(prepareFiles(files, true).map(({ name, sign }) => [name, sign])).toEqual([
    ["new", "+"],
    ["gone", "-"],
  ]);
  expect(prepareFiles(files, false).map(({ name }) => name)).toEqual(["new", "gone", "same"]);
});

it("draws a bounded number of lines of a big file and says how many are left", () => {
  const shown = prepareFile(file("big", null, numbered(5_000)), true);
  expect(shown.hunks.flatMap(({ lines }) => lines)).toHaveLength(600);
  expect(shown).toMatchObject({ added: 5_000, left: 4_400 });
});
