import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ServedEnsemble } from "@/server/contracts/studio";
import { AGGREGATE_ALL } from "@/solver/ensemble/ensembleDocument";
import {
  callRows,
  differsFromKept,
  endsText,
  liveBuckets,
  onlineDoubts,
  onlineExperts,
  onlineFigures,
  onlineStops,
  onlineTotals,
  outcomeRows,
  tauEffect,
  wouldSkip,
} from "./prepareOnline";
import { testEnsemble, testServed } from "./testGate";

describe("counts of a served ensemble", () => {
  it("tell shares of requests, and nothing of none", () => {
    const predicted = { value: "45\u00a0%", detail: "by a sample" };
    expect(onlineFigures(testServed(), predicted).map(({ value }) => value)).toEqual(["100", "40\u00a0%", "45\u00a0%", "10\u00a0%", "1"]);
    const outcomes = { skipped: 0, aggregated: 0, "aggregator-failed": 0, failed: 0 };
    const inForce = { ...testServed().inForce, requests: 0, outcomes, atDeadline: 0, votes: {} };
    const anew = testServed({ inForce });
    expect(onlineFigures(anew, predicted).map(({ value }) => value)).toEqual(["0", "–", "45\u00a0%", "–", "0"]);
    expect(liveBuckets(anew)).toEqual([]);
    expect(onlineTotals(anew)).toMatch(/^Since 19.*: 100 requests, of which 40\u00a0% skipped/);
  });

  it("list outcomes that happened", () => {
    expect(outcomeRows(testServed()).map(({ key, share }) => [key, share])).toEqual([
      ["skipped", 0.4],
      ["aggregated", 0.57],
      ["aggregator-failed", 0.02],
      ["failed", 0.01],
    ]);
    const one = { skipped: 100, aggregated: 0, "aggregator-failed": 0, failed: 0 };
    expect(outcomeRows({ ...testServed().inForce, outcomes: one }).map(({ key }) => key)).toEqual(["skipped"]);
  });

  it("put votes in order of agreement, shares over all of them", () => {
    const buckets = liveBuckets(testServed());
    expect(buckets.map(({ votes }) => votes)).toEqual(["3:0", "2:1", "1", "1:1:1", "0"]);
    expect(buckets.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
    expect(buckets[0]).toMatchObject({ skippedShare: 0.4, skipped: "100\u00a0%" });
  });

  it("tell of experts how many of their answers voted, and of their votes how many led", () => {
    const [first, , never] = onlineExperts(testServed());
    expect(first).toMatchObject({ voted: "80\u00a0%", inMajority: "75\u00a0%", late: 6 });
    expect(never).toMatchObject({ voted: "–", inMajority: "–" });
  });
});

describe("what another tau would have skipped", () => {
  it("is counted by votes over those asked, and within ends where an expert was not waited for", () => {
    const votes = { "3:0": { requests: 40, skipped: 40 }, "2:1": { requests: 40, skipped: 40 }, "2:0": { requests: 20, skipped: 20 } };
    const late = (count: number) => testServed().experts.map((expert, at) => ({ ...expert, late: at === 0 ? count : 0 }));
    expect(wouldSkip(testServed({ votes }), 2 / 3)).toEqual({ low: 1, high: 1 });
    expect(wouldSkip(testServed({ votes, experts: late(20) }), 1)).toEqual({ low: 0.4, high: 0.6 });
    expect(wouldSkip(testServed({ votes, experts: late(5) }), 1)).toEqual({ low: 0.4, high: 0.45 });
    expect(endsText({ low: 0.4, high: 0.6 })).toBe("40\u00a0% to 60\u00a0%");
    expect(endsText({ low: 0.4, high: 0.4 })).toBe("40\u00a0%");
  });

  it("is known exactly where experts left no vote because they failed", () => {
    const votes = { "2:0": { requests: 8, skipped: 0 } };
    const experts = testServed().experts.map((expert) => ({ ...expert, late: 0, failed: 8 }));
    const served = testServed({ votes, experts, inForce: { ...testServed().inForce, votes } });
    expect(wouldSkip(served, 1)).toEqual({ low: 0, high: 0 });
    expect(tauEffect(served, 1)).toBe("By their votes 0\u00a0% of the requests counted would skip the aggregator at this tau.");
    expect(liveBuckets(served)[0]?.words).toBe("2 alike, 1 without a vote");
  });

  it("never grows with tau, and keeps its ends in order", () => {
    const tau = fc.double({ min: 0.01, max: 1, noNaN: true });
    fc.assert(
      fc.property(tau, tau, (a, b) => {
        const [low, high] = [wouldSkip(testServed(), Math.min(a, b)), wouldSkip(testServed(), Math.max(a, b))];
        if (low === null || high === null) throw new Error("requests were counted");
        expect(high.low).toBeLessThanOrEqual(low.low);
        expect(high.high).toBeLessThanOrEqual(low.high);
        expect(low.low).toBeLessThanOrEqual(low.high);
      }),
    );
  });

  it("holds none below the quorum for certain, whatever tau is", () => {
    // Four had a single vote of two that the quorum asks for, and one had none.
    expect(wouldSkip(testServed(), 1 / 3)).toEqual({ low: 0.95, high: 1 });
  });

  it("is not known where votes are weighed, nor before a request", () => {
    const weighed = testEnsemble({ confidence: { kind: "accuracy-weighted", accuracy: { "a-1b": 0.5, "b-3b": 0.6, "c-7b": 0.7 } } });
    expect(wouldSkip(testServed({ ensemble: weighed }), 1)).toBeNull();
    expect(wouldSkip(testServed({ votes: {} }), 1)).toBeNull();
    expect(onlineStops(testServed({ ensemble: weighed }))[0]?.says).toContain("not known");
  });
});

it("stops at shares of votes, at a tau in force that is none, and at aggregating all", () => {
  expect(onlineStops(testServed()).map(({ name }) => name)).toEqual(["1/3", "2/3", "1", "aggregate all"]);
  const odd = testServed({ ensemble: testEnsemble({ tau: 0.5 }) });
  expect(onlineStops(odd).map(({ name }) => name)).toEqual(["1/3", "0.5", "2/3", "1", "aggregate all"]);
  const all = testServed({ ensemble: testEnsemble({ tau: AGGREGATE_ALL }) });
  expect(onlineStops(all).map(({ name }) => name)).toEqual(["1/3", "2/3", "1", "aggregate all"]);
  expect(onlineStops(all).at(-1)?.says).toContain("0\u00a0%");
  expect(tauEffect(all, AGGREGATE_ALL)).toContain("every request");
});

it("tells calls by what each expert said, or why it said nothing", () => {
  const latest: ServedEnsemble["latest"] = [
    {
      ...{ id: "c1", atMs: 0, outcome: "skipped", tau: 2 / 3, confidence: 2 / 3, votes: "2:0", decidedSeconds: 1.5, seconds: 1.5 },
      experts: [
        { model: "a-1b", state: "voted", vote: "42", seconds: 1.2, outputTokens: 10 },
        { model: "b-3b", state: "late", vote: null, seconds: null, outputTokens: null },
        { model: "c-7b", state: "no-vote", vote: null, seconds: 0.9, outputTokens: 10 },
      ],
    },
  ];
  const [row] = callRows(testServed({ latest }), 5);
  expect(row).toMatchObject({ votes: "2:0", confidence: "0.67", tau: "2/3", decided: "1.50\u00a0s" });
  expect(row?.experts.map(({ vote, text }) => [vote, text])).toEqual([
    ["42", "1.20\u00a0s"],
    [null, "late"],
    [null, "no vote, 900\u00a0ms"],
  ]);
});

describe("doubts", () => {
  it("say what requests lack where models are missing", () => {
    expect(onlineDoubts(testServed())).toEqual([]);
    expect(onlineDoubts(testServed({ missing: ["a-1b", "d-70b"] }))).toEqual([
      expect.stringContaining("only 2 experts of 3"),
      expect.stringContaining("aggregator d-70b"),
    ]);
    expect(onlineDoubts(testServed({ missing: ["a-1b", "b-3b", "c-7b"] }))[0]).toContain("no expert can answer");
  });

  it("name in what a gateway's copy differs from the kept one", () => {
    const kept = { ensemble: testEnsemble(), version: 3, createdAt: "2026-03-01T10:00:00.000Z", actor: "x" };
    expect(differsFromKept(testEnsemble(), kept)).toBeNull();
    expect(differsFromKept(testEnsemble({ tau: 0.5, deadlineSeconds: 3 }), kept)).toContain("in tau, deadline");
    expect(differsFromKept(testEnsemble(), undefined)).toContain("not kept");
  });
});
