import { expect, it } from "vitest";
import type { Canary } from "@/server/contracts/studio";
import { canaryEnd, parseShares, prepareCanary, slowSeconds } from "./prepareCanary";

const canary = (change: Partial<Canary> = {}): Canary => ({
  candidate: {
    planId: "p",
    policyHash: "h",
    policy: { kind: "fixed", model: "a", order: { kind: "fcfs" }, place: { kind: "least-load" } },
  },
  shares: [0.05, 0.25, 1],
  stepSeconds: 60,
  minRequests: 100,
  stop: { errorShare: 0.02, slow: { endToEndSeconds: 12.345, share: 0.2 } },
  by: "ada",
  reason: "",
  state: "running",
  step: 1,
  sinceMs: 0,
  stepSinceMs: 10_000,
  candidateArm: { finished: 40, failed: 1, slow: 4 },
  currentArm: { finished: 0, failed: 0, slow: 0 },
  endReason: "",
  ...change,
});

it("is as far in a step as the slower of time and requests", () => {
  expect(prepareCanary(canary(), 70_000)).toMatchObject({ share: 0.25, secondsInStep: 60, progress: 0.4 });
  expect(prepareCanary(canary(), 16_000).progress).toBeCloseTo(0.1);
  expect(prepareCanary(canary(), 0)).toMatchObject({ secondsInStep: 0, progress: 0 });
});

it("marks steps by what became of them", () => {
  const states = (change: Partial<Canary>) => prepareCanary(canary(change), 0).steps.map(({ state }) => state);
  expect(states({})).toEqual(["done", "now", "next"]);
  expect(states({ state: "stopped" })).toEqual(["done", "now", "not reached"]);
  expect(states({ state: "promoted", step: 2 })).toEqual(["done", "done", "done"]);
});

it("gives shares of failed and slow requests where any are finished, and no slow ones where latency does not count", () => {
  const [candidate, inForce] = prepareCanary(canary(), 0).arms;
  expect(candidate).toMatchObject({ failedShare: 0.025, slow: 4, slowShare: 0.1 });
  expect(inForce).toMatchObject({ failedShare: null, slowShare: null });
  expect(prepareCanary(canary({ stop: { errorShare: 0, slow: null } }), 0).arms[0]).toMatchObject({ slow: null, slowShare: null });
});

it("says what would stop it while it runs, and why it ended afterwards", () => {
  expect(prepareCanary(canary(), 0).says).toMatch(
    /2 % .* \(of \d+, while fewer are finished\) fail, or more than 20 % take longer than 12.3 s\.$/,
  );
  const ended = prepareCanary(canary({ state: "withdrawn", endReason: "Withdrawn by ada." }), 0);
  expect(ended).toMatchObject({ says: "Withdrawn by ada.", running: false, share: 0, word: "withdrawn" });
});

it.each([
  ["5, 25, 100", [0.05, 0.25, 1]],
  ["5% 25% 100%", [0.05, 0.25, 1]],
  ["100", [1]],
  ["25, 5, 100", null],
  ["5, 25", null],
  ["0, 100", null],
  ["5, all", null],
  ["", null],
])("reads shares typed as %o", (text, shares) => {
  expect(parseShares(text)).toEqual(shares);
});

it("takes half as much again as the promised p95 for slow, to two digits, and a minute where none is promised", () => {
  expect([slowSeconds(11.2), slowSeconds(0.333), slowSeconds(null)]).toEqual([17, 0.5, 60]);
});

it("says of a promoted canary whether its policy still is in force", () => {
  const promoted = canary({ state: "promoted", endReason: "The policy came into force" });
  const { policyHash } = promoted.candidate;
  expect(canaryEnd(promoted, policyHash)).toMatch(/^started by \w+\. The policy came into force\.$/);
  expect(canaryEnd(promoted, "another")).toMatch(/came into force\. It is no longer in force\.$/);
  expect(canaryEnd({ ...promoted, state: "stopped" }, "another")).not.toMatch(/no longer/);
});
