import { expect, it } from "vitest";
import type { LabReplicas, LabSystem } from "./labSpec";
import { systemRefusal } from "./systemRefusal";

const engine = (model: string): LabReplicas => ({ model, gpu: "h100-sxm", precision: "bf16", tp: 1, pp: 1, count: 1 });
const engines = [engine("small"), engine("large")];
const queueing = { order: { kind: "fcfs" }, place: { kind: "least-load" } } as const;
const fixed: LabSystem = {
  name: "all to large",
  policy: { kind: "fixed", model: "large", ...queueing },
  lengths: "none",
  confidence: "none",
};
const slack: LabSystem = {
  name: "Chimera",
  policy: {
    kind: "slack",
    models: ["small", "large"].map((model) => ({ model, decodeSecondsPerToken: 0.01, maxBatchSize: 8, confidence: 0.5 })),
    ...{ tau: 0.5, deltaScore: 0, floorSeconds: 1, order: { kind: "stjf", agingThreshold: 100 }, place: { kind: "least-load" } },
    approvedRanges: { tau: { min: 0, max: 2 }, deltaScore: { min: 0, max: 1 } },
  },
  lengths: "learnt",
  confidence: "none",
};

it("lets through what can be raced", () => {
  expect(systemRefusal(fixed, engines)).toBeNull();
  expect(systemRefusal(slack, engines)).toBeNull();
  expect(systemRefusal({ ...slack, lengths: "input", confidence: "oracle" }, engines)).toBeNull();
});

it("refuses a system whose models have no engines, unless it brings its own", () => {
  expect(systemRefusal(slack, [engine("small")])).toMatch(/No engine of the race serves large/);
  expect(systemRefusal({ ...slack, replicas: engines }, [engine("small")])).toBeNull();
});

it("refuses an order or a route whose lengths come from nowhere", () => {
  expect(systemRefusal({ ...slack, lengths: "none" }, engines)).toMatch(
    /^Shortest program first \(STJF\) depends on .* where lengths come from/,
  );
  const fcfs: LabSystem = { ...slack, policy: { ...slack.policy, order: { kind: "fcfs" } }, lengths: "none" };
  expect(systemRefusal(fcfs, engines)).toMatch(/Slack dispatch weighs/);
});

it("refuses what predicts for nobody", () => {
  expect(systemRefusal({ ...fixed, lengths: "oracle" }, engines)).toMatch(
    /Nothing here reads lengths: a route to one model, first come, first served/,
  );
  expect(systemRefusal({ ...fixed, confidence: "learnt" }, engines)).toMatch(/Nothing here reads confidence/);
});

it("asks nobody for lengths where orders and places learn in the run what they read", () => {
  const place = { kind: "time-slots" } as const;
  for (const kind of ["workflow", "depth"] as const) {
    const learning: LabSystem = { ...fixed, policy: { ...fixed.policy, order: { kind, agingThreshold: 100 }, place } };
    expect(systemRefusal(learning, engines)).toBeNull();
    expect(systemRefusal({ ...learning, lengths: "learnt" }, engines)).toMatch(/Nothing here reads lengths/);
  }
});

it("says what is wrong with the policy itself", () => {
  const place = { kind: "round-robin", affinity: { ratio: 0.5 } } as const;
  expect(systemRefusal({ ...fixed, policy: { ...fixed.policy, place } }, engines)).toMatch(/Round-robin/);
});
