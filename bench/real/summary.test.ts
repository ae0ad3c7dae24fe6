import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Records } from "./records";
import {
  bandShare,
  firstOnly,
  halfWidth,
  isInBand,
  medianError,
  medianHalfWidth,
  missingRuns,
  type Pair,
  pairsOf,
  plansOnly,
  repeatNoise,
} from "./summary";
import { addMeasured, addPredicted, recordsIn } from "./testing/madeRecords";

let folder = "";
let records: Records;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-summary-"));
  records = recordsIn(join(folder, "runs.jsonl"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("errors are medians over runs with a prediction, bands are checked against the measured p95, repeats give the noise", () => {
  for (const [repeat, p95] of [1, 1.1].entries()) {
    addPredicted(records, `vllm | poisson | 0.5 | ${repeat}`);
    addMeasured(records, `vllm | poisson | 0.5 | ${repeat}`, p95);
  }
  addMeasured(records, "vllm | code | 0.5 | 0", 1);
  const pairs = pairsOf(records);
  expect(pairs).toHaveLength(2);
  expect(firstOnly(pairs)).toHaveLength(1);
  expect(pairs.map(isInBand)).toEqual([true, false]);
  expect(halfWidth(pairs[0] ?? expect.fail())).toBeCloseTo(0.0625, 9);
  expect(medianError(pairs, "ttft")).toBeCloseTo(0.5, 9);
  expect(medianError(pairs, "tpot")).toBeNaN();
  expect(medianError(firstOnly(pairs), "p95")).toBeCloseTo(0.2, 9);
  expect(repeatNoise(pairs, "p95")).toBeCloseTo(Math.sqrt(2 * (0.05 / 1.05) ** 2), 9);
});

test("a run that began before its prediction was stored is refused", () => {
  const key = "vllm | poisson | 0.5 | 0";
  addPredicted(records, key);
  addMeasured(records, key, 1, { beganMs: Date.now() - 60_000 });
  expect(() => pairsOf(records)).toThrow(`${key}: the run began before its prediction was stored.`);
});

test("a run with another profile than its prediction is refused", () => {
  const key = "vllm | poisson | 0.5 | 0";
  addPredicted(records, key);
  addMeasured(records, key, 1, { profile: "another" });
  expect(() => pairsOf(records)).toThrow("different profiles");
});

test("bands are those of plans: a refused load counts in neither share nor width", () => {
  addPredicted(records, "vllm | poisson | 0.5 | 0");
  addMeasured(records, "vllm | poisson | 0.5 | 0", 1);
  addPredicted(records, "vllm | poisson | 0.85 | 0", "The load is above what one engine sustains.");
  addMeasured(records, "vllm | poisson | 0.85 | 0", 7);
  const pairs = pairsOf(records);
  expect(plansOnly(pairs).map(({ share }) => share)).toEqual([0.5]);
  expect(bandShare(pairs)).toBe(1);
  expect(medianHalfWidth(pairs)).toBeCloseTo(0.0625, 9);
  expect(bandShare([])).toBeNaN();
  expect(medianHalfWidth([])).toBeNaN();
});

test("targets need 24 runs, six at each load", () => {
  const shares = [0.2, 0.5, 0.7, 0.85];
  const runs = (counts: readonly number[]): readonly Pair[] =>
    counts.flatMap((count, at) => Array.from({ length: count }, () => ({ share: shares[at] }) as Pair));
  expect(missingRuns(runs([6, 6, 6, 6]), shares)).toBeNull();
  expect(missingRuns(runs([5, 9, 9, 9]), shares)).toBe("32 runs, 5, 9, 9, 9 by load; the targets need 24, 6 at each load");
  expect(missingRuns(runs([2, 2, 2, 2]), shares)).toMatch(/^8 runs/);
});
