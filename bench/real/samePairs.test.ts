import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { withRealModelCards } from "@/server/realModels/realModelCards";
import { noUserCards } from "@/solver/hardware/catalogue";
import type { MeasuredEngine } from "@/solver/hardware/measuredEngine";
import { measuredProfile } from "@/solver/hardware/measuredProfile";
import { PROCESSOR_CARD, processorCard } from "@/solver/hardware/processorCard";
import { LARGE } from "./connections";
import { recordedProfile } from "./measuring";
import type { Records } from "./records";
import { samePairs } from "./samePairs";
import { requestsOf, sameRequests } from "./sameRequests";
import { pairsOf } from "./summary";
import { addMeasured, addPredicted, recordsIn } from "./testing/madeRecords";
import { traffics } from "./traffic";

const limit = (value: number) => ({ value, origin: "reported" }) as const;
const error = (p90Absolute: number) => ({ rows: 10, meanAbsolute: p90Absolute / 2, p90Absolute, bias: 0 });
const span = { least: 1, most: 100 };
/** 10 ms a step, one sequence after another, 20 % wrong. */
const engine: MeasuredEngine = {
  ...{ model: LARGE, gpu: PROCESSOR_CARD, shape: { tp: 1, pp: 1 }, noise: null },
  ...{ errors: { ttft: error(0.2), tpot: error(0.2), endToEnd: error(0.2) }, p95Errors: error(0.2) },
  step: {
    decode: [
      { at: 0, seconds: 0.01 },
      { at: 16, seconds: 0.01 },
    ],
    prefill: [
      { at: 0, seconds: 0 },
      { at: 512, seconds: 0 },
    ],
    ...{ secondsPerPrompt: 0, secondsPerKvToken: 0, secondsPerPair: 0 },
  },
  request: { seconds: 0, secondsPerInputToken: 0, secondsPerOutputToken: 0, delaySeconds: 0 },
  limits: { kvTokens: limit(32_768), maxSequences: limit(16), maxBatchedTokens: limit(512), contextTokens: limit(2048) },
  measuredOn: { runs: 5, requests: 50, inputTokens: span, outputTokens: span, concurrency: span, asOf: "2026-01-01", source: "made" },
};
const cards = withRealModelCards({ ...noUserCards, gpus: [processorCard(8e9)] });
const profile = measuredProfile({ id: "own", name: "Own", engine: "vllm", cards }, [engine]);
const poisson = traffics().find(({ name }) => name === "poisson") ?? expect.fail();
const run = { traffic: poisson, share: 0.5, requestsPerSecond: 2, sent: 111 };

let folder = "";
let records: Records;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "weir-same-"));
  records = recordsIn(join(folder, "runs.jsonl"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test("an engine whose steps all take 10 ms needs 10 ms a token of the very answers that were asked", () => {
  const { lengths } = requestsOf(run);
  const counted = lengths.slice(11).map(({ outputTokens }) => outputTokens);
  const tokens = counted.reduce((sum, count) => sum + count, 0) / counted.length;
  const { mean, tpot } = sameRequests(run, profile, LARGE);
  expect(tpot).toBeCloseTo(0.01, 6);
  // A request that comes within a step waits for its end.
  expect(mean).toBeGreaterThan(0.01 * tokens);
  expect(mean).toBeLessThan(0.01 * (tokens + 1));
});

test("the band of the p95 is the profile's error and no more", () => {
  const { p95, p95Low, p95High } = sameRequests(run, profile, LARGE);
  expect(p95Low / p95).toBeCloseTo(1 / 1.2, 1);
  expect(p95High / p95).toBeCloseTo(1 / 0.8, 1);
});

test("runs get the figures of their own requests; those without a profile have none", () => {
  const key = "vllm | poisson | 0.5 | 0";
  addPredicted(records, key, "The load is too high.");
  addMeasured(records, key, 1);
  expect(samePairs(pairsOf(records), records, [poisson])).toEqual([]);
  records.add({ kind: "fit", key: `vllm ${LARGE}`, minutes: 4, report: {}, profile });
  const pairs = pairsOf(records);
  const at = { ...run, requestsPerSecond: 5 };
  const [same] = samePairs(pairs, records, [poisson]);
  const read = recordedProfile(records, { kind: "vllm", model: LARGE }) ?? expect.fail();
  expect(same?.predicted).toMatchObject({ ...sameRequests(at, read, LARGE), refused: null });
  expect(same?.predicted.tpot).toBeCloseTo(0.01, 6);
  expect(samePairs(pairs, records, [])).toEqual([]);
});
