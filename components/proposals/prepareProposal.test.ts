import { describe, expect, it } from "vitest";
import type { Proposal, TrafficGauge } from "@/server/contracts/studio";
import { prepareProposal } from "./prepareProposal";

const gauge: TrafficGauge = { name: "input tokens", kind: "tokens", planned: 200, now: 280, level: 2, drifted: true };
const proposal: Proposal = {
  ...{ id: "p", clusterId: "c", createdAt: "2026-01-01T14:06:00", state: "open", closed: null, runningPlanId: "a", planId: "b" },
  driftedSince: "2026-01-01T14:05:00",
  drifted: [gauge],
  reason: "",
  gain: { latencySeconds: 1.2, quality: 0.02, costUsdPerHour: 0 },
  change: { started: 2, stopped: 1, seconds: 40 },
  basis: [],
};

describe("prepareProposal", () => {
  it("says what drifted by how much since when, what the change gains and what it takes", () => {
    const { drifted, effect } = prepareProposal(proposal);
    expect(drifted).toBe("input tokens 1.4 times planned since 14:05:00");
    expect(effect).toBe("−1.20 s latency, 2 replicas start and 1 stops, about 40.0\u00a0s");
  });

  it("tells a small share as one, not as nothing", () => {
    const rate: TrafficGauge = { ...gauge, name: "rate", kind: "rate", planned: 60, now: 2.9 };
    expect(prepareProposal({ ...proposal, drifted: [rate] }).drifted).toMatch(/^rate 0\.05 times planned/);
  });

  it("says that a plan does not keep up rather than by how much it is slower", () => {
    const { effect } = prepareProposal({ ...proposal, gain: { latencySeconds: null, quality: -1.5, costUsdPerHour: -2 } });
    expect(effect).toMatch(/^it sustains the traffic, and the plan in force does not, −1\.5 points of quality, \$2\.00 an hour more, /);
  });

  it("tells scores in points, and a shift without a new mean by its spread", () => {
    const score: TrafficGauge = { ...gauge, name: "score of a", kind: "score", planned: 60, now: 48 };
    expect(prepareProposal({ ...proposal, drifted: [score, { ...gauge, now: 203 }] }).drifted).toBe(
      "score of a −12 points from planned, the spread of input tokens since 14:05:00",
    );
  });

  it("says when thresholds alone change", () => {
    expect(prepareProposal({ ...proposal, change: { started: 0, stopped: 0, seconds: 0 } }).effect).toContain("no replica changes");
  });
});
