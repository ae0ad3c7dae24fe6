import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, onTestFinished, test } from "vitest";
import type { ProfileRequest } from "@/server/contracts/studio";
import { openStore, type Store } from "@/server/store/store";
import type { GateDocument } from "@/solver/gates/gateDocument";
import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { examplePlanDraft } from "@/solver/plan/testing/examplePlan";
import { silentGateObstacle, silentModels } from "./silentModels";

const promptSet = {
  ...{ id: "set", name: "set", createdAt: "2026-01-01T00:00:00.000Z", actor: "a" },
} as Parameters<Store["prompts"]["insert"]>[0];

let store: Store;
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), "weir-silent-"));
  store = openStore(folder);
  store.prompts.insert(promptSet, []);
  onTestFinished(() => {
    store.close();
    rmSync(folder, { recursive: true });
  });
});

/** A profile of models on a cluster, and those that it found silent. */
function profiled(
  day: number,
  models: readonly string[],
  {
    silent = [],
    clusterId = "lab",
    confidence = true,
    state = "done",
  }: {
    readonly silent?: readonly string[];
    readonly clusterId?: string;
    readonly confidence?: boolean;
    readonly state?: "done" | "running";
  } = {},
) {
  const request: ProfileRequest = {
    gates: { confidence, samples: null },
    ...{ name: `of day ${day}`, promptSetId: "set", measures: [], concurrency: 1, requestsPerMinute: null, capUsd: null },
    ...{ maxOutputTokens: 100, keepAnswers: false },
    models: models.map((model) => ({
      ...{ model, at: { kind: "cluster", clusterId }, usdPerMillionInputTokens: 0, usdPerMillionOutputTokens: 0 },
    })),
  };
  store.profiles.insert({
    ...{ id: `of day ${day}`, createdAt: `2026-01-0${day}T00:00:00.000Z`, actor: "a", promptSetId: "set", request, state, pause: null },
    withoutLogprobs: silent.length === 0 ? null : silent,
  });
}

test("a model is silent where a profile of the cluster's engines found it so, and on no other cluster", () => {
  profiled(1, ["small", "large"], { silent: ["small"] });
  expect(silentModels(store, "lab")).toEqual(["small"]);
  expect(silentModels(store, "other")).toEqual([]);
});

test("the newest profile that asked for log probabilities counts, once it has found something or is done", () => {
  profiled(1, ["small", "large"], { silent: ["small"] });
  profiled(2, ["small"], { confidence: false });
  profiled(3, ["small"], { state: "running" });
  expect(silentModels(store, "lab")).toEqual(["small"]);
  profiled(4, ["small"]);
  expect(silentModels(store, "lab")).toEqual([]);
  profiled(5, ["large"], { silent: ["large"], state: "running" });
  expect(silentModels(store, "lab")).toEqual(["large"]);
});

test("a gate that reads log probabilities of a silent model is refused with the reason and the remedy, others are not", () => {
  const { policy } = examplePlanDraft();
  const [first = ""] = policy.stages.map(({ model }) => model);
  const gated = (gate: GateDocument) => ({ ...policy, gates: policy.thresholds.map(() => gate) });
  const confidence = gated({ kind: "confidence", measure: "minimum" });
  const silent = new Map([[first, "profile" as const]]);
  expect(silentGateObstacle(confidence, silent)).toBe(
    `The confidence gate of stage 1 reads log probabilities, which the engines of ${first} do not report, as a profile found: plan with another gate, or profile ${first} again.`,
  );
  expect(silentGateObstacle(confidence, new Map([[first, "request"]]))).toBe(
    `The confidence gate of stage 1 reads log probabilities, which the engines of ${first} do not report, as a request for one token showed: plan with another gate.`,
  );
  expect(silentGateObstacle(confidence, new Map([["another", "profile"]]))).toBeNull();
  const weights = [{ feature: "log-answer-tokens", mean: 0, scale: 1, weight: 1 }] as const;
  expect(silentGateObstacle(gated({ kind: "scorer", answer: "whole", bias: 0, weights: [...weights] }), silent)).toBeNull();
  expect(silentGateObstacle(policy, silent)).toBeNull();
});

test("a gate of agents' answers is refused for the same reason", () => {
  const policy: JustInTimePolicy = {
    ...{ kind: "just-in-time", workflows: [], selection: { kind: "cheapest" }, order: { kind: "fcfs" }, place: { kind: "least-load" } },
    models: [{ model: "small", cost: 1, saturationBatch: 1, throughput: [{ batch: 1, tokensPerSecond: 1 }] }],
    callGates: [{ model: "small", prior: 0.5, gate: { kind: "confidence", measure: "minimum" } }],
  };
  expect(silentGateObstacle(policy, new Map([["small", "request"]]))).toBe(
    "The confidence gate of agents' answers by small reads log probabilities, which the engines of small do not report, as a request for one token showed: plan with another gate.",
  );
  expect(silentGateObstacle({ ...policy, callGates: [] }, new Map([["small", "request"]]))).toBeNull();
});
