import { buildPolicy } from "@/solver/policies/buildPolicy";
import type { ReplicaView, WaitingWork } from "@/solver/policies/policy";
import type { Benchmark } from "./benchmark";

const decision: Benchmark = {
  name: "one routing decision",
  budget: "0.2 ms at 1000 queued requests, 64 replicas",
  run() {
    const models = ["small", "medium", "large"];
    const policy = buildPolicy({
      kind: "cascade",
      stages: models.map((model) => ({ model })),
      thresholds: [70, 50],
      judge: { model: "judge", secondsPerCall: 0.27, usdPerCall: 0 },
      order: { kind: "fcfs" },
      place: { kind: "least-load" },
      approvedRanges: { thresholds: [70, 50].map(() => ({ min: 0, max: 100 })) },
    });
    const waiting: WaitingWork[] = Array.from({ length: 1000 }, (_, index) => ({
      id: `request-${index}`,
      programId: `request-${index}`,
      stage: index % 3,
      programArrivalSeconds: index,
      queuedSinceSeconds: index,
      inputTokens: 500,
      state: { kind: "queued" },
    }));
    // All replicas full but one of each model: the case of a long queue, where one request has just finished.
    const replicas: ReplicaView[] = Array.from({ length: 64 }, (_, index) => ({
      id: `replica-${index}`,
      model: models[index % 3] ?? "small",
      inFlight: index < 3 ? 63 : 64,
      maxInFlight: 64,
      accepting: true,
      kvUse: { state: "absent" },
    }));
    const view = { nowSeconds: 1000, waiting, replicas };
    const rounds = 5000;
    for (let warmUp = 0; warmUp < 500; warmUp += 1) policy.decide(view);
    const startedMs = performance.now();
    let dispatched = 0;
    for (let round = 0; round < rounds; round += 1) dispatched += policy.decide(view).length;
    const figure = (performance.now() - startedMs) / rounds;
    return { figure, unit: "ms", detail: `3 stages, least load, ${dispatched / rounds} dispatched of 1000 queued` };
  },
};

/** What Weir claims of its gateway. */
export const gatewayBenchmarks: readonly Benchmark[] = [decision];
