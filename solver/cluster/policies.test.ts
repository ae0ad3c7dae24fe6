import { describe, expect, it } from "vitest";
import { gpuCards } from "@/solver/hardware/gpus";
import { modelCards } from "@/solver/hardware/models";
import { replicaModel } from "@/solver/hardware/replicaShapes";
import { mean } from "@/solver/numeric/quantile";
import { seededRandom } from "@/solver/numeric/random";
import type { OrderDocument, PlaceDocument, PolicyDocument, SlackPolicy } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import type { Policy, PolicyEvent } from "@/solver/policies/core/policy";
import type { OutcomeTable, RequestSample } from "@/solver/workload/workload";
import { simulateCluster } from "./simulateCluster";

const [SMALL, LARGE] = ["llama-3.1-8b", "llama-3.1-70b"] as const;
const PROMPTS = 300;
const random = seededRandom(11);
const lengths = (mu: number) => Int32Array.from({ length: PROMPTS }, () => 1 + Math.min(3000, random.lognormal(mu, 1)));
const outcomes: OutcomeTable = {
  promptIds: Array.from({ length: PROMPTS }, (_, prompt) => `p${prompt}`),
  categories: Array.from({ length: PROMPTS }, () => "all"),
  inputTokens: lengths(5),
  models: [SMALL, LARGE].map((model, size) => ({
    model,
    tableName: model,
    outputTokens: lengths(5.5),
    label: Float64Array.from({ length: PROMPTS }, () => (random.next() < 0.5 + 0.3 * size ? 100 : 0)),
    judged: Float64Array.from({ length: PROMPTS }, () => random.int(101)),
  })),
};

function sampleOf(requests: number, requestsPerSecond: number): RequestSample {
  const draw = seededRandom(7);
  let now = 0;
  const arrivalSeconds = Float64Array.from({ length: requests }, () => {
    now += draw.exponential(requestsPerSecond);
    return now;
  });
  return { arrivalSeconds, prompt: Int32Array.from({ length: requests }, () => draw.int(PROMPTS)) };
}

function engine(model: string, tp: number) {
  const fit = replicaModel(modelCards[model]!, gpuCards["h100-sxm"]!, { tp, pp: 1 });
  if (!fit.fits) throw new Error(fit.reason);
  return fit.replica;
}

const replicas = (model: string, count: number, maxInFlight: number) =>
  Array.from({ length: count }, (_, index) => {
    return { id: `${model}-${index}`, model, replica: engine(model, model === LARGE ? 4 : 1), maxInFlight };
  });

/** Expected output tokens of each request: exactly the true ones. */
const oracle = (sample: RequestSample) => (request: number, stage: number) =>
  outcomes.models[stage]!.outputTokens[sample.prompt[request]!]!;

function run(policy: Policy, sample: RequestSample, deployment: ReturnType<typeof replicas>) {
  return simulateCluster({ policy, replicas: deployment, sample, outcomes, judgeSeconds: 0, predictTokens: oracle(sample) });
}

const fixed = (order: OrderDocument, place: PlaceDocument = { kind: "least-load" }): PolicyDocument => ({
  kind: "fixed",
  model: SMALL,
  order,
  place,
});

describe("orders on a cluster", () => {
  // More than two replicas with eight in flight can serve, for a while.
  const sample = sampleOf(600, 9);
  const deployment = replicas(SMALL, 2, 8);

  it("answer sooner on average by shortest job first than in the order of coming, where lengths are known", () => {
    const meanSeconds = (order: OrderDocument) => mean(run(buildPolicy(fixed(order)), sample, deployment).endToEndSeconds);
    const inOrder = meanSeconds({ kind: "fcfs" });
    expect(meanSeconds({ kind: "sjf", agingThreshold: 10_000 })).toBeLessThan(0.8 * inOrder);
    expect(meanSeconds({ kind: "stjf", agingThreshold: 10_000 })).toBeLessThan(0.8 * inOrder);
    // Every request is the first of its program here, so no program has been served before.
    expect(meanSeconds({ kind: "mlfq", quantaSeconds: [1, 2], agingThreshold: 10_000 })).toBe(inOrder);
  });

  it("keep the longest waiting request to its bound, S + n releases", () => {
    const agingThreshold = 20;
    const worst = mostPassesBeyondQueue(buildPolicy(fixed({ kind: "sjf", agingThreshold })), sample, deployment);
    const without = mostPassesBeyondQueue(buildPolicy(fixed({ kind: "sjf", agingThreshold: 10_000 })), sample, deployment);
    expect(worst).toBeLessThanOrEqual(agingThreshold);
    expect(without).toBeGreaterThan(2 * agingThreshold);
  });
});

/** Maximum over all requests of the releases that passed over one minus the number waiting when it joined. */
function mostPassesBeyondQueue(policy: Policy, sample: RequestSample, deployment: ReturnType<typeof replicas>): number {
  const joined = new Map<string, { readonly releases: number; readonly ahead: number }>();
  let releases = 0;
  let most = 0;
  const watched: Policy = {
    ...policy,
    observe(event: PolicyEvent) {
      policy.observe(event);
      if (event.kind === "queued") joined.set(event.work.id, { releases, ahead: joined.size });
      if (event.kind !== "dispatched") return;
      const own = joined.get(event.workId)!;
      joined.delete(event.workId);
      most = Math.max(most, releases - own.releases - own.ahead);
      releases += 1;
    },
  };
  run(watched, sample, deployment);
  return most;
}

describe("slack dispatch on a cluster", () => {
  const deployment = [...replicas(SMALL, 2, 64), ...replicas(LARGE, 1, 64)];
  const slack = (tau: number): SlackPolicy => ({
    kind: "slack",
    models: [
      { model: SMALL, decodeSecondsPerToken: 0.01, maxBatchSize: 64, confidence: 0.5 },
      { model: LARGE, decodeSecondsPerToken: 0.02, maxBatchSize: 64, confidence: 0.8 },
    ],
    tau,
    deltaScore: 0.05,
    floorSeconds: 1,
    order: { kind: "stjf", agingThreshold: 50 },
    place: { kind: "lowest-kv", affinity: { ratio: 0.5 } },
    approvedRanges: { tau: { min: 0, max: 10 }, deltaScore: { min: 0, max: 1 } },
  });
  const largeShare = (tau: number, requestsPerSecond: number) => {
    const whole = run(buildPolicy(slack(tau)), sampleOf(400, requestsPerSecond), deployment);
    expect(whole.unserved).toBe(0);
    return whole.finalStage.reduce((sum, stage) => sum + stage, 0) / 400;
  };

  it("sends fewer to the surer model the busier it is, and more the more slack it has", () => {
    expect(largeShare(0, 0.2)).toBeGreaterThan(0.75);
    expect(largeShare(0, 20)).toBeLessThan(0.5);
    expect(largeShare(5, 20)).toBeGreaterThan(largeShare(0, 20) + 0.2);
  });
});

it("a fixed model is served as a cascade of it alone", () => {
  const sample = sampleOf(200, 5);
  const deployment = replicas(SMALL, 2, 32);
  const place: PlaceDocument = { kind: "round-robin" };
  const alone: PolicyDocument = {
    kind: "cascade",
    stages: [{ model: SMALL }],
    thresholds: [],
    judge: { model: "weir-judge", secondsPerCall: 0, usdPerCall: 0 },
    order: { kind: "fcfs" },
    place,
    approvedRanges: { thresholds: [] },
  };
  expect(run(buildPolicy(fixed({ kind: "fcfs" }, place)), sample, deployment)).toEqual(run(buildPolicy(alone), sample, deployment));
});
