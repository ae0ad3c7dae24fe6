import { describe, expect, it } from "vitest";
import type { PlaceDocument } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { BLOCK_TOKENS } from "@/solver/prefix/promptBlocks";
import type { OutcomeTable } from "@/solver/workload/workload";
import { simulateCluster } from "./simulateCluster";

const prompts = 4;
const promptTokens = 10 * BLOCK_TOKENS;
const model = (name: string) => ({
  ...{ model: name, tableName: name, outputTokens: new Int32Array(prompts).fill(2) },
  ...{ label: new Float64Array(prompts).fill(100), judged: new Float64Array(prompts).fill(10) },
});
/** Prompts that begin with the same eight blocks. */
const outcomes: OutcomeTable = {
  promptIds: Array.from({ length: prompts }, (_, prompt) => `p${prompt}`),
  categories: new Array<string>(prompts).fill("any"),
  inputTokens: new Int32Array(prompts).fill(promptTokens),
  promptBlocks: Array.from({ length: prompts }, () => Uint32Array.from({ length: 8 }, (_, block) => block + 1)),
  models: [model("small"), model("large")],
};
/** A step takes a second a token that is not in the cache. */
const replica = {
  ...{ kvTokens: 100_000, maxSequences: 8, maxBatchedTokens: 10_000, requestSeconds: () => 0 },
  stepTime: {
    decodeBaseSeconds: () => 0.001,
    secondsPerKvToken: 0,
    mixedStepSeconds: ({ prefillTokens }: { readonly prefillTokens: number }) => prefillTokens / 1000,
    provenance: [],
  },
};
const engines = ["small-0", "small-1", "large-0"].map((id) => ({ id, model: id.split("-")[0] ?? "", replica, maxInFlight: 8 }));
const sample = { arrivalSeconds: Float64Array.of(0, 10, 20, 30), prompt: Int32Array.of(0, 1, 2, 3) };

function run(place: PlaceDocument, table = outcomes) {
  const policy = buildPolicy({
    ...{ kind: "cascade", stages: [{ model: "small" }, { model: "large" }], thresholds: [50] },
    ...{ judge: { model: "judge", secondsPerCall: 0, usdPerCall: 0 }, order: { kind: "fcfs" }, place },
    approvedRanges: { thresholds: [{ min: 0, max: 100 }] },
  });
  return simulateCluster({ policy, replicas: engines, sample, outcomes: table, judgeSeconds: 0 });
}

const ttfts = (place: PlaceDocument, table = outcomes) =>
  run(place, table).stages.map(({ ttftSeconds }) => Array.from(ttftSeconds, (seconds) => Number(seconds.toFixed(3))));

describe("prefix caches of modelled engines", () => {
  const whole = promptTokens / 1000;
  const rest = (promptTokens - 8 * BLOCK_TOKENS) / 1000;

  it("shorten the prefill by what the engine itself has read, and the larger model's engine has read nothing of the smaller one's", () => {
    expect(ttfts({ kind: "prefix" })).toEqual([
      [whole, rest, rest, rest],
      [whole, rest, rest, rest],
    ]);
  });

  it("are each engine's own, so that taking turns misses once on every engine", () => {
    expect(ttfts({ kind: "round-robin" })).toEqual([
      [whole, whole, rest, rest],
      [whole, rest, rest, rest],
    ]);
  });

  it("are counted by model, and not at all where no hashes are known", () => {
    const [small, large] = run({ kind: "round-robin" }).stages;
    expect(small?.prefixHitShare).toBeCloseTo((2 * 8) / (4 * 10));
    expect(large?.prefixHitShare).toBeCloseTo((3 * 8) / (4 * 10));
    const { promptBlocks: _, ...unknown } = outcomes;
    expect(run({ kind: "prefix" }, unknown).stages[0]).not.toHaveProperty("prefixHitShare");
    expect(ttfts({ kind: "prefix" }, unknown)[0]).toEqual([whole, whole, whole, whole]);
  });
});
