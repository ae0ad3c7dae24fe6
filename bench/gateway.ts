import { quantile } from "@/solver/numeric/quantile";
import type { OrderDocument, PlaceDocument } from "@/solver/plan/policySchema";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import type { ReplicaView, WaitingWork } from "@/solver/policies/policy";
import type { Benchmark, Measurement } from "./benchmark";
import { closedLoop } from "./closedLoop";
import {
  benchCascade,
  cascadeModel,
  chatBody,
  fixedModel,
  mockedBy,
  openLoopLatencies,
  startBenchGateway,
  startMock,
} from "./gatewayBench";

const decision: Benchmark = {
  name: "one routing decision",
  budget: { figure: 0.2, keep: "at most" },
  run() {
    const measured = orders.flatMap((order) => places.map((place) => ({ order, place, ms: decisionMs(order, place) })));
    const { order, place, ms } = measured.reduce((worst, one) => (one.ms > worst.ms ? one : worst));
    const slowest = `${order.kind} with ${place.kind}${place.affinity === undefined ? "" : " and affinity"}`;
    const detail = `1000 queued requests, 64 replicas, 3 stages, the slowest of ${measured.length} pairs of order and place: ${slowest}`;
    return { figure: ms, unit: "ms", detail };
  },
};

const agingReleases = 200;
const orders: readonly OrderDocument[] = [
  { kind: "fcfs" },
  { kind: "sjf", agingReleases },
  { kind: "stjf", agingReleases },
  { kind: "mlfq", quantaSeconds: [1, 2, 4, 8], agingReleases },
];
const places: readonly PlaceDocument[] = [
  { kind: "round-robin" },
  ...(["least-load", "lowest-kv"] as const).flatMap((kind) => [{ kind }, { kind, affinity: { ratio: 0.5 } }]),
];

/** Mean time of one decision of a cascade with this order and place. */
function decisionMs(order: OrderDocument, place: PlaceDocument): number {
  const models = ["small", "medium", "large"];
  const policy = buildPolicy({
    kind: "cascade",
    stages: models.map((model) => ({ model })),
    thresholds: [70, 50],
    judge: { model: "judge", secondsPerCall: 0.27, usdPerCall: 0 },
    order,
    place,
    approvedRanges: { thresholds: [70, 50].map(() => ({ min: 0, max: 100 })) },
  });
  const waiting: WaitingWork[] = Array.from({ length: 1000 }, (_, index) => ({
    id: `request-${index}`,
    programId: `program-${index % 300}`,
    stage: index % 3,
    programArrivalSeconds: index,
    queuedSinceSeconds: 1 + index,
    inputTokens: 500,
    predictedTokens: 1 + ((index * 7919) % 2003),
    state: { kind: "queued" },
  }));
  for (const { id, programId } of waiting) {
    policy.observe({ kind: "dispatched", workId: id, programId, replicaId: "replica-0", nowSeconds: 0 });
    policy.observe({ kind: "finished", workId: id, replicaId: "replica-0", nowSeconds: 0.5, failed: false });
  }
  // All replicas full but one of each model: the case of a long queue, where one request has just finished.
  const replicas: ReplicaView[] = Array.from({ length: 64 }, (_, index) => ({
    id: `replica-${index}`,
    model: models[index % 3] ?? "small",
    inFlight: index < 3 ? 63 : 64,
    maxInFlight: 64,
    accepting: true,
    kvUse: { state: "fresh", value: (index % 10) / 10, ageSeconds: 0.5 },
  }));
  // Releases at the time 0 pass over nothing that waits, so that the order is worked out anew each time.
  const view = { nowSeconds: 0, waiting, replicas };
  const rounds = 1000;
  for (let warmUp = 0; warmUp < 200; warmUp += 1) policy.decide(view);
  const startedMs = performance.now();
  for (let round = 0; round < rounds; round += 1) policy.decide(view);
  return (performance.now() - startedMs) / rounds;
}

/** Runs with a gateway that has a two-stage cascade in force, over a mock. */
async function withGateway(measure: (gatewayUrl: string, mockUrl: string) => Promise<Measurement>): Promise<Measurement> {
  const mock = await startMock();
  const gateway = await startBenchGateway(benchCascade(["small", fixedModel]), mockedBy(mock.url));
  try {
    return await measure(gateway.url, mock.url);
  } finally {
    await Promise.all([gateway.close(), mock.close()]);
  }
}

function throughput(name: string, model: string, leastPerSecond: number): Benchmark {
  return {
    name,
    budget: { figure: leastPerSecond, keep: "at least" },
    run: () =>
      withGateway(async (gatewayUrl) => {
        const body = chatBody({ model, stream: false });
        await closedLoop(gatewayUrl, body, 2);
        const { requestsPerSecond, tool } = await closedLoop(gatewayUrl, body, 6);
        return {
          figure: requestsPerSecond,
          unit: "requests/s",
          detail: `${tool} with 64 connections, not streamed, bare mock upstream on the same machine`,
        };
      }),
  };
}

/** Difference of a quantile through the gateway and straight to the mock at 500 requests a second: median of interleaved rounds. */
function addedLatency(q: number, mostMs: number): Benchmark {
  return {
    name: `gateway added latency p${q * 100}`,
    budget: { figure: mostMs, keep: "at most" },
    run: () =>
      withGateway(async (gatewayUrl, mockUrl) => {
        const load = { model: fixedModel, stream: false, perSecond: 500, seconds: 0.8 };
        await openLoopLatencies(gatewayUrl, load);
        const rounds: { readonly straight: number; readonly through: number }[] = [];
        for (let round = 0; round < 5; round += 1) {
          const straight = quantile(await openLoopLatencies(mockUrl, load), q);
          rounds.push({ straight, through: quantile(await openLoopLatencies(gatewayUrl, load), q) });
        }
        const median = (values: readonly number[]): number => quantile(values, 0.5);
        const [through, straight] = [median(rounds.map((round) => round.through)), median(rounds.map((round) => round.straight))];
        const detail = `fixed model at 500 requests/s, median of 5 rounds: ${through.toFixed(2)} ms through, ${straight.toFixed(2)} ms straight`;
        return { figure: median(rounds.map((round) => round.through - round.straight)), unit: "ms", detail };
      }),
  };
}

/** What Weir claims of its gateway. */
export const gatewayBenchmarks: readonly Benchmark[] = [
  decision,
  throughput("gateway, fixed model", fixedModel, 5000),
  throughput("gateway, cascade with judge, 2.4 upstream calls each", cascadeModel, 3000),
  addedLatency(0.5, 1),
  addedLatency(0.99, 5),
];
