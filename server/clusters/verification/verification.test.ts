import { describe, expect, it } from "vitest";
import type { PlanInput, PlanPromise, PromiseReport } from "@/server/contracts/studio/promise";
import { lookedAt, openVerification } from "./verification";

const promise = (name: string, change: Partial<PlanPromise>): PlanPromise => ({
  ...{
    quantity: "end-to-end",
    model: null,
    name,
    kind: "seconds",
    promised: 2,
    band: { low: 1.8, high: 2.2 },
    measured: 2,
    interval: { low: 1.9, high: 2.1 },
  },
  ...{ verdict: "kept", reason: "band at 95 %" },
  ...change,
});
const latency = promise("p95 end to end", {});
const quality = promise("quality", { kind: "score", promised: 70, measured: 71 });
const slow = promise("p95 end to end", { measured: 3, verdict: "broken" });
const unsure = promise("quality", { kind: "score", verdict: "too little measured", reason: "20 of 50 values" });
const rate = (now: number, state: PlanInput["state"]): PlanInput => ({ name: "rate", kind: "rate", planned: 8, now, level: null, state });

const report = (change: Partial<PromiseReport>): PromiseReport => ({
  ...{ planId: "p", atMs: 0, emulated: true, emulatedAsPlanned: true, requests: 400, failed: 0, windowSeconds: 300, notComparable: null },
  ...{ promises: [latency, quality], inputs: [], broken: [], simulating: false, notes: [] },
  drift: { windowSeconds: 60, last: null, driftedSince: null, says: null },
  ...change,
});
const hour = 3_600_000;
const after = (change: Partial<PromiseReport> | null, nowMs = 300_000) =>
  lookedAt(openVerification(0), "p", { nowMs, timeScale: 1, report: change === null ? null : report(change), unpredicted: null });

describe("a plan that was put into force", () => {
  it("passes with its figures where all of them hold", () => {
    expect(after({})).toMatchObject({
      state: "passed",
      toMs: 300_000,
      requests: 400,
      says: expect.stringMatching(/^Keeps .* 2 s, promised 2 s; 2 of 2/),
    });
  });

  it("fails with the figures that do not hold", () => {
    const seen = after({ promises: [slow, quality] });
    expect(seen).toMatchObject({ state: "failed", says: "Does not keep its promises: p95 end to end 3 s, promised 2 s." });
    expect(seen.checks.map(({ verdict }) => verdict)).toEqual(["fail", "pass"]);
  });

  it("is neither before there were enough requests and enough time", () => {
    for (const few of [{ requests: 199 }, { windowSeconds: 100 }])
      expect(after({ ...few, promises: [slow] })).toMatchObject({
        state: "watching",
        toMs: null,
        says: expect.stringMatching(/^Measuring/),
      });
  });

  it("fails where its requests fail, also where none is answered, rather than waiting for answers", () => {
    const failures = promise("failed requests", { kind: "share", promised: 0, measured: 1, interval: null, verdict: "broken" });
    const none = promise("p95 end to end", { measured: null, interval: null, verdict: "too little measured" });
    expect(after({ requests: 0, failed: 651, promises: [none, failures] })).toMatchObject({
      state: "failed",
      says: "Does not keep its promises: failed requests 100 %, promised 0 %.",
    });
  });

  it("waits for what more traffic decides, and for that no longer than its time limit", () => {
    expect(after({ promises: [latency, unsure] })).toMatchObject({ state: "watching" });
    expect(after({ promises: [latency, unsure] }, hour)).toMatchObject({ state: "passed" });
    expect(after({ promises: [latency, { ...unsure, measured: null }] })).toMatchObject({ state: "passed" });
  });

  it("is not failed by more traffic than it was made for, and not excused by less", () => {
    expect(after({ promises: [slow], inputs: [rate(12, "moved")] })).toMatchObject({
      state: "undecided",
      says: "The traffic is not what the plan was made for: rate 12, planned 8.",
    });
    expect(after({ promises: [slow], inputs: [rate(4, "moved")] })).toMatchObject({ state: "failed" });
    expect(after({ inputs: [rate(12, "drifted")] })).toMatchObject({ state: "passed" });
  });

  it("is undecided at once where nothing predicts it, whatever the traffic and before there is any", () => {
    const look = { nowMs: 1, timeScale: 1, unpredicted: "Nothing predicts it." };
    for (const seen of [null, report({ inputs: [rate(12, "moved")], promises: [slow] })])
      expect(lookedAt(openVerification(0), "p", { ...look, report: seen })).toMatchObject({
        ...{ state: "undecided", says: "Nothing predicts it.", toMs: 1, checks: [] },
      });
  });

  it("stays undecided where nothing came, nothing compares, or another plan is in force", () => {
    expect(after(null)).toMatchObject({ state: "watching" });
    expect(after(null, hour)).toMatchObject({ state: "undecided", says: "Nothing was measured." });
    expect(after({ requests: 3 }, hour)).toMatchObject({ state: "undecided", says: expect.stringMatching(/^Too little traffic/) });
    expect(after({ planId: "other" })).toMatchObject({ state: "undecided" });
    const panic = { notComparable: "In panic a answers everything.", promises: [{ ...latency, verdict: "not comparable" as const }] };
    expect(after(panic)).toMatchObject({ state: "watching" });
    expect(after(panic, hour)).toMatchObject({ state: "undecided", says: "In panic a answers everything." });
  });
});
