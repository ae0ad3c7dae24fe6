import { describe, expect, it } from "vitest";
import type { SlackPolicy } from "../plan/policySchema";
import type { ReplicaView, WaitingWork } from "./policy";
import { slackRoute } from "./slackRoute";
import { starting } from "./worldOfContract";

const policy: SlackPolicy = {
  kind: "slack",
  models: [
    { model: "small", decodeSecondsPerToken: 0.01, maxBatchSize: 10, confidence: 0.4 },
    { model: "large", decodeSecondsPerToken: 0.02, maxBatchSize: 10, confidence: 0.8 },
  ],
  tau: 0,
  deltaScore: 0.1,
  floorSeconds: 1,
  order: { kind: "fcfs" },
  place: { kind: "least-load" },
  approvedRanges: { tau: { min: 0, max: 1 }, deltaScore: { min: 0, max: 1 } },
};

const replica = (model: string, id = model, accepting = true): ReplicaView => ({
  id,
  model,
  inFlight: 0,
  maxInFlight: 10,
  accepting,
  kvUse: { state: "absent" },
});
const both = [replica("small"), replica("large")];

const work = (id: string, stage: number, more: Partial<WaitingWork> = {}): WaitingWork => ({
  id,
  programId: id,
  stage,
  programArrivalSeconds: 0,
  queuedSinceSeconds: 0,
  inputTokens: 100,
  state: { kind: "queued" },
  ...more,
});

describe("slackRoute", () => {
  it("leaves the surest model once the tokens expected of it are more than the slack", () => {
    const route = slackRoute(policy);
    const start = () => route.start({ ...starting("new"), replicas: both });
    expect(start()).toEqual({ stage: 1, reason: "least-loaded" });
    route.observe?.({ kind: "queued", work: work("a", 1, { predictedTokens: 500 }) });
    expect(start()).toEqual({ stage: 1, reason: "surer-within-slack" });
    route.observe?.({ kind: "queued", work: work("b", 1, { predictedTokens: 1 }) });
    expect(start()).toEqual({ stage: 0, reason: "least-loaded" });
    route.observe?.({ kind: "finished", workId: "a", replicaId: "large", nowSeconds: 1, failed: false });
    expect(start().stage).toBe(1);
  });

  it("counts what a program has yet to write, else the request's own output, else its input", () => {
    for (const tokens of [{ predictedProgramTokens: 501, predictedTokens: 1 }, { predictedTokens: 501 }, { inputTokens: 501 }]) {
      const route = slackRoute(policy);
      route.observe?.({ kind: "queued", work: work("a", 1, tokens) });
      expect(route.start({ ...starting("new"), replicas: both }).stage).toBe(0);
      route.observe?.({ kind: "left", workId: "a" });
      expect(route.start({ ...starting("new"), replicas: both }).stage).toBe(1);
    }
  });

  it("spreads a model's load over its replicas that take work, and sends none to a model without", () => {
    const route = slackRoute(policy);
    route.observe?.({ kind: "queued", work: work("a", 1, { predictedTokens: 900 }) });
    const startAmong = (replicas: readonly ReplicaView[]) => route.start({ ...starting("new"), replicas }).stage;
    expect(startAmong(both)).toBe(0);
    expect(startAmong([...both, replica("large", "large2")])).toBe(1);
    expect(startAmong([...both, replica("large", "large2", false)])).toBe(0);
    expect(slackRoute(policy).start({ ...starting("new"), replicas: [replica("small")] }).stage).toBe(0);
  });

  it("keeps a program at its model while it lasts, however loaded that becomes", () => {
    const route = slackRoute(policy);
    const start = () => route.start({ ...starting("program"), replicas: both });
    route.observe?.({ kind: "queued", work: work("a", 1, { programId: "program", predictedTokens: 9000 }) });
    expect(start()).toEqual({ stage: 1, reason: "program-keeps-its-model" });
    route.observe?.({ kind: "ended", programId: "program" });
    expect(start().stage).toBe(0);
  });

  it("sends a program elsewhere only while no replica of its model takes work, and back to it after", () => {
    const route = slackRoute(policy);
    const start = (replicas: readonly ReplicaView[]) => route.start({ ...starting("program"), replicas }).stage;
    route.observe?.({ kind: "queued", work: work("a", 1, { programId: "program" }) });
    expect(start([replica("small"), replica("large", "large", false)])).toBe(0);
    route.observe?.({ kind: "queued", work: work("b", 0, { programId: "program" }) });
    expect(start(both)).toBe(1);
    expect(start([])).toBe(1);
  });

  it("asks the scorer it is given, by default what a router says of the request before what the policy states", () => {
    const request = { ...starting("new", (model) => (model === "small" ? 95 : undefined)), replicas: both };
    expect(slackRoute(policy).start(request).stage).toBe(0);
    expect(slackRoute(policy, { confidence: (model) => (model === "small" ? 0 : 1) }).start(request).stage).toBe(1);
  });
});
