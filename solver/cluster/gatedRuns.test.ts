import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GateDocument } from "@/solver/gates/gateDocument";
import { gpuCards } from "@/solver/hardware/gpus";
import { modelCards } from "@/solver/hardware/models";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import type { CascadePolicy } from "@/solver/plan/plan";
import { gatesByModel } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { isRefused } from "@/solver/stageGates/gateRefusal";
import { stageGatesOf } from "@/solver/stageGates/stageGate";
import { withColumns } from "@/solver/stageGates/testing/gateColumns";
import { generatedWorkload } from "@/solver/workload/generated";
import { drawSample } from "@/solver/workload/sample";
import type { Workload } from "@/solver/workload/workload";
import type { ClusterOutcome } from "./clusterOutcome";
import { simulateCluster } from "./simulateCluster";

const PEER = "gemma-2-2b";
const [SMALL, LARGE] = ["qwen2.5-3b", "qwen2.5-7b"] as const;
const REQUESTS = 300;

/** A ladder of two with a third model that answers for gates alone. */
function ladder(columns: Parameters<typeof withColumns>[1]): Workload {
  const { outcomes, ...rest } = generatedWorkload({ prompts: 200, ladder: [SMALL, LARGE], seed: 5 });
  const [small] = outcomes.models;
  if (small === undefined) throw new Error("a ladder has models");
  return withColumns({ ...rest, outcomes: { ...outcomes, models: [...outcomes.models, { ...small, model: PEER }] } }, columns);
}

const cascade = (gates: CascadePolicy["gates"], more: Partial<CascadePolicy> = {}): CascadePolicy => ({
  kind: "cascade",
  stages: [{ model: SMALL }, { model: LARGE }],
  thresholds: [60],
  judge: { model: "weir-judge", secondsPerCall: 0.5, usdPerCall: 0 },
  ...(gates === undefined ? {} : { gates }),
  ...{ order: { kind: "fcfs" }, place: { kind: "least-load" } },
  approvedRanges: { thresholds: [{ min: 0, max: 100 }] },
  ...more,
});

const replicas = (model: string, { count = 1, maxInFlight = 256 } = {}) =>
  Array.from({ length: count }, (_, index) => {
    const fit = replicaModel(modelCards[model]!, gpuCards["h100-sxm"]!, { tp: 1, pp: 1 });
    if (!fit.fits) throw new Error(fit.reason);
    return { id: `${model}-${index}`, model, replica: fit.replica, maxInFlight };
  });

function run(
  workload: Workload,
  policy: CascadePolicy,
  { rate = 5, peers = 1, maxInFlight = 256 }: { readonly rate?: number; readonly peers?: number; readonly maxInFlight?: number } = {},
): { readonly outcome: ClusterOutcome; readonly sample: ReturnType<typeof drawSample> } {
  const gates = stageGatesOf(workload, gatesByModel(policy));
  if (isRefused(gates)) throw new Error(gates.kind);
  const sample = drawSample(workload, { part: "planning", requestsPerSecond: rate, requests: REQUESTS, seed: 3 });
  const outcome = simulateCluster({
    ...{ policy: buildPolicy(policy), sample, outcomes: workload.outcomes, judgeSeconds: policy.judge.secondsPerCall },
    replicas: [...replicas(SMALL, { maxInFlight }), ...replicas(LARGE)],
    ...(policy.gates === undefined ? {} : { gates, peerReplicas: replicas(PEER, { count: peers }) }),
  });
  return { outcome, sample };
}

const confidence = { kind: "confidence", measure: "minimum" } as const;
const samples = { kind: "agreement", answer: "whole", samples: { count: 3, temperature: 0.8 } } as const;
const withPeer: GateDocument = { kind: "agreement", answer: "whole", peers: [PEER] };
const mean = (values: Float64Array): number => values.reduce((sum, value) => sum + value, 0) / values.length;

describe("a simulated cascade with gates", () => {
  it("accepts the answers whose score reaches the threshold and sends the others on, whatever the gate", () => {
    const workload = ladder({ samples: 3 });
    for (const gate of [confidence, samples] as const) {
      const { outcome, sample } = run(workload, cascade([gate]));
      const own = workload.outcomes.models[0];
      const scores = gate.kind === "confidence" ? own?.confidence : own?.agreement;
      for (const [request, stage] of outcome.finalStage.entries())
        expect(stage).toBe((scores?.[sample.prompt[request] ?? 0] ?? 0) >= 60 ? 0 : 1);
      expect(new Set(outcome.finalStage)).toEqual(new Set([0, 1]));
    }
  });

  it("does not wait for the judge where its gate does not ask it, and waits where a sequence does", () => {
    const workload = ladder({});
    const free = run(workload, cascade([confidence])).outcome;
    const never: GateDocument = {
      kind: "sequence",
      first: [{ gate: confidence, acceptFrom: 101, escalateBelow: 0 }],
      last: { kind: "judge" },
    };
    const judged = run(workload, cascade(undefined)).outcome;
    const asked = run(workload, cascade([never])).outcome;
    expect(free.judgeMeanSeconds).toBe(0);
    // A first gate that is never sure leaves everything to the judge.
    expect(asked.finalStage).toEqual(judged.finalStage);
    expect(asked.endToEndSeconds).toEqual(judged.endToEndSeconds);
  });

  it("is quicker with a free gate of the judge's own scores than with the judge at a light load", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 99 }), fc.integer({ min: 1, max: 20 }), (threshold, tenths) => {
        const workload = ladder({});
        const same = workload.outcomes.models.map((own) => ({ ...own, confidence: own.judged }));
        const alike: Workload = { ...workload, outcomes: { ...workload.outcomes, models: same } };
        const judge = { model: "weir-judge", secondsPerCall: tenths / 10, usdPerCall: 0 };
        const at = { thresholds: [threshold], judge };
        const [free, judged] = [run(alike, cascade([confidence], at), { rate: 0.2 }), run(alike, cascade(undefined, at), { rate: 0.2 })];
        expect(free.outcome.finalStage).toEqual(judged.outcome.finalStage);
        expect(mean(free.outcome.endToEndSeconds)).toBeLessThan(mean(judged.outcome.endToEndSeconds));
      }),
      { numRuns: 10 },
    );
  });

  it("loads the engines of the model with its samples and those of a peer with its answers", () => {
    const busy = (policy: CascadePolicy, workload: Workload): number => run(workload, policy).outcome.stages[0]?.busyShare ?? 0;
    const plain = busy(cascade([confidence]), ladder({ samples: 3 }));
    expect(busy(cascade([samples]), ladder({ samples: 3 }))).toBeGreaterThan(plain);
    const { outcome } = run(ladder({ peers: [PEER] }), cascade([withPeer]));
    const { outcome: free } = run(ladder({ peers: [PEER] }), cascade([confidence]));
    // An answer waits for its peer's where that takes longer.
    expect(mean(outcome.endToEndSeconds)).not.toBe(mean(free.endToEndSeconds));
    expect(outcome.unserved).toBe(0);
  });

  it("sends an answer to the largest model, or accepts it, as the policy says, where no engine is free for its samples", () => {
    const workload = ladder({ samples: 3 });
    const judge = { model: "weir-judge", secondsPerCall: 0.5, usdPerCall: 0 };
    // A replica with room for one request is never half empty.
    const full = { maxInFlight: 1 } as const;
    expect(new Set(run(workload, cascade([samples]), full).outcome.finalStage)).toEqual(new Set([0]));
    const careful = cascade([samples], { judge: { ...judge, whenDown: "largest" } });
    expect(new Set(run(workload, careful, full).outcome.finalStage)).toEqual(new Set([1]));
  });

  it("serves every request once at any load, and no slot of an engine stays taken", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 2, max: 64 }), (rate, maxInFlight) => {
        const { outcome } = run(ladder({ samples: 3 }), cascade([samples]), { rate, maxInFlight });
        expect(outcome.unserved).toBe(0);
        for (const seconds of outcome.endToEndSeconds) expect(seconds).toBeGreaterThan(0);
      }),
      { numRuns: 15 },
    );
  });
});
