import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AGGREGATE_ALL } from "@/solver/ensemble/gate/ensembleDocument";
import { testEnsemble, testServed } from "../testing/testGate";
import { endsText, onlineStops, tauEffect, wouldSkip } from "./prepareOnlineTau";

describe("what another tau would have skipped", () => {
  const votesOf = (requests: number, of: { withQuorum?: number; early?: number } = {}) => ({
    ...{ requests, skipped: 0, withQuorum: requests, early: 0 },
    ...of,
  });

  it("is counted by votes over those asked, and within ends where an expert was not waited for", () => {
    const votes = (early: number) => ({ "3:0": votesOf(40), "2:1": votesOf(40), "2:0": votesOf(20, { early }) });
    expect(wouldSkip(testServed({ votes: votes(20) }), 2 / 3)).toEqual({ low: 1, high: 1 });
    expect(wouldSkip(testServed({ votes: votes(20) }), 1)).toEqual({ low: 0.4, high: 0.6 });
    expect(wouldSkip(testServed({ votes: votes(5) }), 1)).toEqual({ low: 0.4, high: 0.45 });
    expect(endsText({ low: 0.4, high: 0.6 })).toBe("40\u00a0% to 60\u00a0%");
    expect(endsText({ low: 0.4, high: 0.4 })).toBe("40\u00a0%");
  });

  it("is known exactly where experts left no vote because they failed or were late", () => {
    const served = testServed({ votes: { "2:0": votesOf(8) } });
    expect(wouldSkip(served, 1)).toEqual({ low: 0, high: 0 });
    expect(tauEffect(served, 1)).toBe("By their votes 0\u00a0% of the requests counted would skip the aggregator at this tau.");
  });

  it("takes answers without a vote for the quorum, as the gate does, and none that lacked it", () => {
    const ensemble = testEnsemble({ experts: ["a-1b", "b-3b"], expertsPerQuestion: 2, tau: 1 / 2 });
    expect(wouldSkip(testServed({ ensemble, votes: { "1:0": votesOf(10) } }), 1 / 2)).toEqual({ low: 1, high: 1 });
    expect(wouldSkip(testServed({ ensemble, votes: { "1:0": votesOf(10, { withQuorum: 4 }) } }), 1 / 2)).toEqual({ low: 0.4, high: 0.4 });
    expect(wouldSkip(testServed(), 1 / 3)).toEqual({ low: 0.97, high: 0.97 });
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
