import type { OrderDocument, PlaceDocument, PolicyDocument } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import type { Policy, ReplicaView, WaitingWork } from "@/solver/policies/core/policy";
import { atMost, type Benchmark } from "../lib/benchmark";
import { packedDecisionBenchmarks } from "./packedDecision";

const QUEUED = 1000;
const REPLICAS = 64;
const MAX_IN_FLIGHT = 64;
const WARM_UP_ROUNDS = 200;
const ROUNDS = 1000;

const models = ["small", "medium", "large"] as const;
const agingThreshold = 200;
const orders: readonly OrderDocument[] = [
  { kind: "fcfs" },
  { kind: "sjf", agingThreshold },
  { kind: "stjf", agingThreshold },
  { kind: "mlfq", quantaSeconds: [1, 2, 4, 8], agingThreshold },
  { kind: "workflow", agingThreshold },
  { kind: "depth", agingThreshold },
];
const places: readonly PlaceDocument[] = [
  { kind: "round-robin" },
  ...(["least-load", "lowest-kv"] as const).flatMap((kind) => [{ kind }, { kind, affinity: { ratio: 0.5 } }]),
];

type Parts = Pick<PolicyDocument, "order" | "place">;

/** Each kind of route between several models, over an order and a place. */
const routes: Readonly<Record<string, (parts: Parts) => PolicyDocument>> = {
  cascade: (parts) => ({
    kind: "cascade",
    stages: models.map((model) => ({ model })),
    thresholds: [70, 50],
    judge: { model: "judge", secondsPerCall: 0.27, usdPerCall: 0 },
    approvedRanges: { thresholds: [70, 50].map(() => ({ min: 0, max: 100 })) },
    ...parts,
  }),
  slack: (parts) => ({
    kind: "slack",
    models: models.map((model, index) => ({
      model,
      decodeSecondsPerToken: 0.01 * (index + 1),
      maxBatchSize: MAX_IN_FLIGHT,
      confidence: 0.5 + 0.1 * index,
    })),
    tau: 0.5,
    deltaScore: 0.05,
    floorSeconds: 2,
    approvedRanges: { tau: { min: 0, max: 2 }, deltaScore: { min: 0, max: 1 } },
    ...parts,
  }),
  balanced: (parts) => ({ kind: "balanced", models: models.map((model) => ({ model, maxBatchSize: MAX_IN_FLIGHT })), ...parts }),
};

const routeBenchmarks: readonly Benchmark[] = Object.keys(routes).map((route) => ({
  name: `one routing decision, ${route}`,
  budget: atMost(0.2, "queueing, ordering and placing one request cost more than 0.2 us for each that waits"),
  run() {
    const pairs = orders.flatMap((order) => places.map((place) => ({ order, place })));
    const measured = pairs.map((parts) => ({ ...parts, ...decisionMs(routes[route]?.(parts)) }));
    const { order, place, ms, startMs } = measured.reduce((worst, one) => (one.ms > worst.ms ? one : worst));
    const slowest = `${order.kind} with ${place.kind}${place.affinity === undefined ? "" : " and affinity"}`;
    return {
      figure: ms,
      unit: "ms",
      detail: `${QUEUED} queued requests with predicted lengths, ${REPLICAS} replicas, ${models.length} models; choosing the model (${(1000 * startMs).toPrecision(2)} us of it), queueing and releasing; the slowest of ${pairs.length} pairs of order and place: ${slowest}`,
    };
  },
}));

export const decisionBenchmarks: readonly Benchmark[] = [...routeBenchmarks, ...packedDecisionBenchmarks];

/** Mean milliseconds of the policy for choosing one request's model and queueing it, and for the decision upon it. */
function decisionMs(document: PolicyDocument | undefined): { readonly ms: number; readonly startMs: number } {
  if (document === undefined) throw new RangeError("A route without a policy");
  const policy = buildPolicy(document);
  // All replicas full but one of each model: the case of a long queue, where one request has just finished.
  const replicas: ReplicaView[] = Array.from({ length: REPLICAS }, (_, index) => ({
    id: `replica-${index}`,
    model: models[index % models.length] ?? "",
    inFlight: index < models.length ? MAX_IN_FLIGHT - 1 : MAX_IN_FLIGHT,
    maxInFlight: MAX_IN_FLIGHT,
    accepting: true,
    kvUse: { state: "fresh", value: (index % 10) / 10, ageSeconds: 0.5 },
  }));
  let waiting: WaitingWork[] = [];
  let count = 0;
  let [ms, startMs] = [0, 0];
  const join = (stage: number): void => {
    const work = workOf(count++, stage);
    waiting.push(work);
    policy.observe({ kind: "queued", work });
  };
  const round = (): void => {
    const beganMs = performance.now();
    startOf(policy, count, replicas);
    const startedMs = performance.now();
    // Releases at the time 0 do not pass over any waiting request, so that the order counts and not its aging.
    const actions = policy.decide({ nowSeconds: 0, waiting, replicas });
    const decidedMs = performance.now();
    const released = new Set(actions.map(({ workId }) => workId));
    const left = waiting.filter(({ id }) => released.has(id));
    waiting = waiting.filter(({ id }) => !released.has(id));
    const removedMs = performance.now();
    for (const { id, programId, stage } of left) {
      const at = { workId: id, replicaId: `replica-${stage}`, nowSeconds: 0 };
      policy.observe({ kind: "dispatched", programId, ...at });
      policy.observe({ kind: "finished", failed: false, ...at });
      join(stage);
    }
    startMs += startedMs - beganMs;
    ms += performance.now() - beganMs - (removedMs - decidedMs);
  };
  for (let at = 0; at < QUEUED; at += 1) {
    join(at % models.length);
    // Programs that have been served before: feedback and affinity know them.
    const served = { workId: `served-${at}`, replicaId: "replica-0" };
    policy.observe({ kind: "dispatched", programId: programOf(at), nowSeconds: 0, ...served });
    policy.observe({ kind: "finished", failed: false, nowSeconds: at % 16, ...served });
  }
  for (let warmUp = 0; warmUp < WARM_UP_ROUNDS; warmUp += 1) round();
  [ms, startMs] = [0, 0];
  for (let counted = 0; counted < ROUNDS; counted += 1) round();
  return { ms: ms / ROUNDS, startMs: startMs / ROUNDS };
}

const programOf = (index: number): string => `program-${index % 300}`;

const workOf = (index: number, stage: number): WaitingWork => ({
  id: `request-${index}`,
  programId: programOf(index),
  stage,
  programArrivalSeconds: index,
  queuedSinceSeconds: 1 + index,
  inputTokens: 500,
  predictedTokens: 1 + ((index * 7919) % 2003),
  predictedProgramTokens: 1 + ((index * 6101) % 8009),
  forecast: {
    agent: "application/agent",
    distanceSeconds: 1 + ((index * 31) % 24),
    remainingCalls: 1 + (index % 5),
    requestSeconds: 5,
    tokensPerSecond: 40,
  },
  state: { kind: "queued" },
});

const startOf = (policy: Policy, index: number, replicas: readonly ReplicaView[]) =>
  policy.start({
    programId: `new-${index}`,
    inputTokens: 500,
    routerScores: (model) => 40 + model.length,
    replicas,
    judgeResting: false,
  });
