import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import { weightSets } from "./weightSets";

let folder = "";
beforeEach(() => {
  const own = mkdtempSync(join(tmpdir(), "weir-weights-"));
  onTestFinished(() => rmSync(own, { recursive: true }));
  folder = own;
  for (const model of ["arith-small", "arith-large"]) trained(join("root", "models", model), `committed ${model}`);
});

function trained(path: string, weights: string): void {
  mkdirSync(join(folder, path), { recursive: true });
  writeFileSync(join(folder, path, "model.safetensors"), weights);
}

const sets = (seeds: string | undefined) => weightSets(join(folder, "root"), join(folder, "sets"), { WEIR_BENCH_SEEDS: seeds });
const weightsIn = (set: { readonly folder: string } | undefined) =>
  ["arith-small", "arith-large"].map((model) => readFileSync(join(set?.folder ?? "", model, "model.safetensors"), "utf8"));

test("without a folder of seeds the committed weights are the only set", () => {
  for (const named of [undefined, ""]) expect(sets(named).map(({ folder: own }) => own)).toEqual([join(folder, "root", "models")]);
});

test("a seed without a larger model gets the committed one, and one that has it keeps it", () => {
  trained(join("seeds", "17", "arith-small"), "small of 17");
  trained(join("seeds", "9", "arith-small"), "small of 9");
  trained(join("seeds", "9", "arith-large"), "large of 9");
  const found = sets(join(folder, "seeds"));
  expect(found.map(({ name, isLargeOwn }) => [name, isLargeOwn])).toEqual([
    ["seed 15", true],
    ["seed 9", true],
    ["seed 17", false],
  ]);
  expect(found.slice(1).map(weightsIn)).toEqual([
    ["small of 9", "large of 9"],
    ["small of 17", "committed arith-large"],
  ]);
});

test("folders that are no seed, or that lack the small model's weights, are left out", () => {
  trained(join("seeds", "notes", "arith-small"), "of no seed");
  trained(join("seeds", "18", "arith-large"), "the larger alone");
  mkdirSync(join(folder, "seeds", "19", "arith-small"), { recursive: true });
  expect(sets(join(folder, "seeds"))).toHaveLength(1);
});
