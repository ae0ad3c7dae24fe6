import { expect, it } from "vitest";
import { tauSentence } from "./prepareTau";

const dispatch = { taus: [0, 1, 2] };
const point = {
  allocation: 0,
  tau: 1,
  quality: 81.23,
  qualityLow: 80,
  latencySeconds: 2.5,
  largestStageSeconds: 2.5,
  gpusTotal: 8,
  costUsdPerRequest: 0.001,
  share: [1],
};

it("calls the figures between two simulated taus interpolated, and names both", () => {
  expect(tauSentence(1.25, { dispatch, point })).toBe("p95 2.50\u00a0s, quality 81.2, interpolated between τ 1 and τ 2.");
  expect(tauSentence(1, { dispatch, point })).toBe("p95 2.50\u00a0s, quality 81.2, simulated.");
});

it("says which tau the planner takes, and where none meets the objective", () => {
  expect(tauSentence(null, { dispatch, point })).toMatch(/^The planner takes τ 1: /);
  expect(tauSentence(null, { dispatch, point: null })).toBe("No slack dispatch meets floor, budget and slack.");
  expect(tauSentence(0.5, { dispatch, point: null })).toBe("No slack dispatch at τ 0.5 meets floor, budget and slack.");
  expect(tauSentence(0.5, { dispatch: null, point: null })).toContain("once slack dispatch is simulated");
});
