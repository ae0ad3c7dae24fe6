import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { Records } from "./records";
import { firstOnly, halfWidth, isInBand, medianError, pairsOf, repeatNoise } from "./summary";

const folder = mkdtempSync(join(tmpdir(), "weir-summary-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const measured = { requests: 100, failed: 0, inputTokens: 1, outputTokens: 1, lateP95: 0, lateMost: 0, p95Low: 0, p95High: 9 };

test("errors are medians over runs with a prediction, bands are checked against the measured p95, repeats give the noise", () => {
  const records = new Records(join(folder, "runs.jsonl"));
  for (const [repeat, p95] of [1, 1.1].entries()) {
    const key = `vllm | poisson | 0.5 | ${repeat}`;
    const predicted = { mean: 1, p50: 1, p95: 1.2, p99: 2, ttft: 0.1, tpot: null, utilisation: 0.5, refused: null, plan: "x" };
    records.add({ kind: "predicted", key, requestsPerSecond: 5, predicted: { ...predicted, p95Low: 0.9, p95High: 1.05 } });
    records.add({
      ...{ kind: "measured", key, requestsPerSecond: 5 },
      measured: { ...measured, mean: 1, p50: 1, p95, p99: 2, ttft: 0.2, tpot: 0.1 },
    });
  }
  records.add({
    ...{ kind: "measured", key: "vllm | code | 0.5 | 0", requestsPerSecond: 5 },
    measured: { ...measured, mean: 1, p50: 1, p95: 1, p99: 2, ttft: 0.2, tpot: 0.1 },
  });
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
