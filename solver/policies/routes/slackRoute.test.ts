import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { SlackPolicy } from "@/solver/plan/policySchema";
import type { ReplicaView, WaitingWork } from "../core/policy";
import { starting } from "../testing/worldOfContract";
import { slackRoute } from "./slackRoute";

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

  it("counts a request without a prediction with its model's mean output, where the policy states it", () => {
    const models = policy.models.map((model) => ({ ...model, meanOutputTokens: 501 }));
    const after = (stated: SlackPolicy, tokens: Partial<WaitingWork>) => {
      const route = slackRoute(stated);
      route.observe?.({ kind: "queued", work: work("a", 1, tokens) });
      return route.start({ ...starting("new"), replicas: both }).stage;
    };
    const stated = { ...policy, models };
    expect(after(policy, { inputTokens: 10 })).toBe(1);
    expect(after(stated, { inputTokens: 10 })).toBe(0);
    // A limit that the client sets is no prediction: it counts only where it is below the mean.
    expect(after({ ...policy, models: models.map((model) => ({ ...model, meanOutputTokens: 10 })) }, { predictedTokens: 4000 })).toBe(1);
    expect(after(stated, { predictedTokens: 10 })).toBe(1);
    // A predictor of lengths, or the client's own total, counts as it is.
    expect(after({ ...stated, learnt: { lengths: "0".repeat(64) } }, { predictedTokens: 499 })).toBe(1);
    expect(after(stated, { predictedProgramTokens: 10 })).toBe(1);
  });

  it("counts what a program has yet to write, else the request's own output, else its input", () => {
    for (const tokens of [{ predictedProgramTokens: 501, predictedTokens: 1 }, { predictedTokens: 501 }, { inputTokens: 501 }]) {
      const route = slackRoute(policy);
      route.observe?.({ kind: "queued", work: work("a", 1, tokens) });
      expect(route.start({ ...starting("new"), replicas: both }).stage).toBe(0);
      route.observe?.({ kind: "left", workId: "a", nowSeconds: 1 });
      expect(route.start({ ...starting("new"), replicas: both }).stage).toBe(1);
    }
  });

  it("counts what comes after a program's requests side by side once, the most that one of them says, until the last of them ends", () => {
    const route = slackRoute(policy);
    const votes = [200, 100, 100].map((own, vote) => {
      return work(`vote ${vote}`, 1, { programId: "program", predictedTokens: own, predictedProgramTokens: own + 90 + vote });
    });
    /** Tokens of other programs at the large model with which it is just within the slack, 500 in all. */
    const free = (): number => {
      for (let tokens = 1; tokens <= 501; tokens += 1) {
        route.observe?.({ kind: "queued", work: work("other", 1, { predictedTokens: tokens }) });
        const { stage } = route.start({ ...starting("new"), replicas: both });
        route.observe?.({ kind: "left", workId: "other", nowSeconds: 1 });
        if (stage === 0) return tokens - 1;
      }
      return 501;
    };
    for (const vote of votes) route.observe?.({ kind: "queued", work: vote });
    expect(free()).toBe(500 - (200 + 100 + 100 + 92));
    route.observe?.({ kind: "finished", workId: "vote 2", replicaId: "large", nowSeconds: 1, failed: false });
    expect(free()).toBe(500 - (200 + 100 + 91));
    for (const workId of ["vote 0", "vote 1"])
      route.observe?.({ kind: "finished", workId, replicaId: "large", nowSeconds: 2, failed: false });
    expect(free()).toBe(500);
  });

  it("starts requests as if none had come before, once all have ended", () => {
    const tokens = fc.double({ min: 0.01, max: 4000, noNaN: true });
    const request = fc.record({
      stage: fc.nat(1),
      program: fc.nat(5),
      predictedTokens: tokens,
      predictedProgramTokens: tokens,
      turn: fc.nat(),
    });
    const undecided: SlackPolicy = { ...policy, floorSeconds: 0, models: policy.models.map((model) => ({ ...model, confidence: 0.5 })) };
    fc.assert(
      fc.property(fc.array(request, { minLength: 1, maxLength: 40 }), (requests) => {
        const route = slackRoute(undecided);
        for (const [at, { stage, program, turn: _, ...predicted }] of requests.entries())
          route.observe?.({ kind: "queued", work: work(String(at), stage, { programId: `p${program}`, ...predicted }) });
        for (const [at] of [...requests.entries()].sort(([, a], [, b]) => a.turn - b.turn))
          route.observe?.({ kind: "left", workId: String(at), nowSeconds: 1 });
        const start = (of: typeof route) => of.start({ ...starting("new"), replicas: both });
        expect(start(route)).toEqual(start(slackRoute(undecided)));
      }),
    );
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

  it("lets a program change its model between requests where that is allowed, once its own is beyond the slack, and then keep the new one", () => {
    const route = slackRoute({ ...policy, tau: 1, changesModel: true });
    const start = () => route.start({ ...starting("program"), replicas: both });
    // Up to 2 s of load at the large model, (1 + tau) times the floor.
    route.observe?.({ kind: "queued", work: work("a", 1, { programId: "program", predictedTokens: 1000 }) });
    expect(start()).toEqual({ stage: 1, reason: "program-keeps-its-model" });
    route.observe?.({ kind: "queued", work: work("b", 1, { predictedTokens: 1 }) });
    expect(start()).toEqual({ stage: 0, reason: "least-loaded" });
    route.observe?.({ kind: "queued", work: work("c", 0, { programId: "program" }) });
    for (const workId of ["a", "b"]) route.observe?.({ kind: "left", workId, nowSeconds: 1 });
    expect(start()).toEqual({ stage: 0, reason: "program-keeps-its-model" });
  });

  it("asks the scorer it is given, by default what a router says of the request before what the policy states", () => {
    const request = { ...starting("new", (model) => (model === "small" ? 95 : undefined)), replicas: both };
    expect(slackRoute(policy).start(request).stage).toBe(0);
    expect(slackRoute(policy, { confidence: (model) => (model === "small" ? 0 : 1) }).start(request).stage).toBe(1);
  });
});
