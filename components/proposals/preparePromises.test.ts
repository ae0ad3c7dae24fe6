import { describe, expect, it } from "vitest";
import type { PlanInput, PlanPromise, PromiseReport } from "@/server/contracts/studio";
import { emulatedSays, inputRows, promiseRows, promiseWindowSays, standingOf } from "./preparePromises";

const p95: PlanPromise = {
  ...{
    quantity: "end-to-end",
    model: null,
    name: "p95 end to end",
    kind: "seconds",
    promised: 6.1,
    band: { low: 5.2, high: 7 },
    measured: 9.8,
  },
  ...{ interval: { low: 9.1, high: 10.4 }, verdict: "broken", reason: "band at 90 %" },
};
const cost: PlanPromise = {
  ...p95,
  name: "cost per hour",
  kind: "usd",
  promised: 4,
  band: { low: 0, high: 4.6 },
  measured: 4,
  interval: null,
  verdict: "kept",
};
const rate: PlanInput = { name: "rate", kind: "rate", planned: 54, now: 110.4, level: 2.31, state: "drifted" };
const report: PromiseReport = {
  ...{ planId: "p", atMs: 0, requests: 1234, failed: 0, windowSeconds: 300, notComparable: null, broken: [], simulating: false, notes: [] },
  ...{ emulated: false, emulatedAsPlanned: false },
  promises: [p95, cost],
  inputs: [rate],
  drift: { windowSeconds: 300, last: null, driftedSince: null, says: null },
};
const of = (change: Partial<PromiseReport>): PromiseReport => ({ ...report, ...change });
const kept: PlanPromise = { ...p95, verdict: "kept" };
const steady: PlanInput = { ...rate, state: "as planned" };

describe("promiseRows", () => {
  it("gives each in its unit with its band and what sampling leaves, and what is not measured as absent", () => {
    const share: PlanPromise = { ...p95, kind: "share", promised: 0.4, band: { low: 0.37, high: 0.43 }, measured: null, interval: null };
    expect(
      promiseRows(of({ promises: [p95, cost, share] })).map(({ promised, measured, interval }) => [promised, measured, interval]),
    ).toEqual([
      ["6.10\u00a0s (5.20\u00a0s to 7.00\u00a0s)", "9.80\u00a0s", "9.10\u00a0s to 10.4\u00a0s"],
      ["$4.00 (up to $4.60)", "$4.00", ""],
      ["40\u00a0% (37\u00a0% to 43\u00a0%)", "–", ""],
    ]);
  });
});

describe("inputRows", () => {
  it("gives each in its unit beside what was planned, and what was not seen as absent, never as zero", () => {
    const score: PlanInput = { name: "score of a", kind: "score", planned: 61.24, now: null, level: null, state: "too little seen" };
    const engines: PlanInput = { name: "engines of a that serve", kind: "engines", planned: 2, now: 1, level: null, state: "moved" };
    expect(inputRows({ inputs: [rate, score, engines] }).map(({ planned, now, distance, word }) => [planned, now, distance, word])).toEqual(
      [
        ["54/s", "110/s", "2.31 × the limit", "drifted"],
        ["61.2 points", "–", "–", "too little data"],
        ["2", "1", "–", "changed"],
      ],
    );
  });
});

it("does not call an input as planned that is over the limit and not confirmed yet", () => {
  const [row] = inputRows({ inputs: [{ ...steady, level: 1.08 }] });
  expect(row).toMatchObject({ distance: "1.08 × the limit", word: "over the limit, not confirmed yet", tone: "warn" });
});

describe("standingOf", () => {
  it("counts what is broken, names what moved and offers another plan", () => {
    expect(standingOf(report)).toMatchObject({
      word: "1 of 2 figures off target",
      says: "1 of 2 are on target. Changed since planning: rate.",
      offers: true,
    });
  });

  it("is calm in one line where all is kept and nothing moved, and not where an input did", () => {
    expect(standingOf(of({ promises: [kept, cost], inputs: [steady] }))).toEqual({
      ...{ word: "on target", tone: "good", says: "All 2 figures are on target.", calm: true, offers: false },
    });
    expect(standingOf(of({ promises: [kept, cost] }))).toMatchObject({ word: "on target; traffic changed", calm: false, offers: true });
    const early: PlanPromise = { ...p95, verdict: "too little measured" };
    expect(standingOf(of({ promises: [kept, early], inputs: [steady] })).says).toContain(
      "1 of 2 figures are on target; too little data for one.",
    );
  });

  it("says what is not comparable beside what is kept, and calls neither all kept nor anything broken", () => {
    const night: PlanPromise = { ...cost, name: "cost per request", verdict: "not comparable" };
    const standing = standingOf(of({ promises: [kept, cost, night] }));
    expect(standing.word).toBe("on target; traffic changed");
    expect(standing.says).toMatch(/^2 of 3 figures are on target; cost per request is not comparable\./);
  });

  it("says that too little is measured, or why nothing compares, rather than that promises are kept", () => {
    const early: PlanPromise = { ...p95, verdict: "too little measured" };
    expect(standingOf(of({ promises: [early], inputs: [steady], requests: 12 })).says).toMatch(/^Too little data yet: 12 requests/);
    expect(standingOf(of({ promises: [early], inputs: [steady], requests: 12, failed: 3 })).says).toMatch(
      /^Too little data yet: 12 answered requests and 3 that failed/,
    );
    const reason = "Knobs are set by hand.";
    expect(standingOf(of({ notComparable: reason }))).toMatchObject({ says: reason, calm: false, offers: false });
  });
});

it("says what the figures rest on", () => {
  expect(promiseWindowSays(report)).toContain("1,234 requests in 300\u00a0s; drift by windows of 300\u00a0s, none ended yet");
});

it("says that engines are emulated, and where they follow the planner's own model, and says nothing of real ones", () => {
  expect(emulatedSays(report)).toBeNull();
  expect(emulatedSays({ emulated: true, emulatedAsPlanned: false })!.word).toBe("emulated");
  const planned = emulatedSays({ emulated: true, emulatedAsPlanned: true })!;
  expect(planned.word).toBe("emulated as planned");
  expect(planned.says).toContain("shows nothing about real engines");
});
