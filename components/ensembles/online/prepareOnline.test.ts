import { describe, expect, it } from "vitest";
import type { ServedEnsemble } from "@/server/contracts/studio";
import { testEnsemble, testServed } from "../testing/testGate";
import {
  callRows,
  differsFromKept,
  liveBuckets,
  onlineDoubts,
  onlineExperts,
  onlineFigures,
  onlineTotals,
  outcomeRows,
} from "./prepareOnline";

describe("counts of a served ensemble", () => {
  it("tell shares of requests, and nothing of none", () => {
    const predicted = { value: "45\u00a0%", detail: "by a sample" };
    expect(onlineFigures(testServed(), predicted).map(({ value }) => value)).toEqual([
      ...["100", "40\u00a0%", "45\u00a0%", "10\u00a0%", "3", "1"],
    ]);
    const outcomes = { skipped: 0, aggregated: 0, "aggregator-failed": 0, failed: 0 };
    const inForce = { ...testServed().inForce, requests: 0, outcomes, atDeadline: 0, votes: {} };
    const anew = testServed({ inForce });
    expect(onlineFigures(anew, predicted).map(({ value }) => value)).toEqual(["0", "–", "45\u00a0%", "–", "3", "0"]);
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
    expect(buckets.map(({ votes }) => votes)).toEqual(["3:0", "2:1", "1:0", "1:1:1", "0"]);
    expect(buckets.reduce((sum, { share }) => sum + share, 0)).toBeCloseTo(1);
    expect(buckets[0]).toMatchObject({ skippedShare: 0.4, skipped: "100\u00a0%" });
    const early = (count: number) => {
      const votes = { "2:0": { requests: 8, skipped: 8, withQuorum: 8, early: count } };
      return liveBuckets(testServed({ inForce: { ...testServed().inForce, votes } }))[0]?.words;
    };
    expect([early(0), early(3), early(8)]).toEqual([
      "2 alike, 1 without a vote",
      "2 alike, 1 without a vote or not waited for",
      "2 alike, 1 not waited for",
    ]);
  });

  it("tell of experts how many of their answers voted, and of their votes how many led", () => {
    const [first, , never] = onlineExperts(testServed());
    expect(first).toMatchObject({ voted: "80\u00a0%", inMajority: "75\u00a0%", late: 6 });
    expect(never).toMatchObject({ voted: "–", inMajority: "–" });
  });
});

it("tells calls by what each expert said, or why it said nothing", () => {
  const latest: ServedEnsemble["latest"] = [
    {
      ...{ id: "c1", atMs: 0, outcome: "skipped", tau: 2 / 3, confidence: 2 / 3, votes: "2:0", decidedSeconds: 1.5, seconds: 1.5 },
      experts: [
        { model: "a-1b", state: "voted", vote: "42", seconds: 1.2, outputTokens: 10 },
        { model: "b-3b", state: "late", vote: null, seconds: null, outputTokens: null },
        { model: "d-9b", state: "not-needed", vote: null, seconds: null, outputTokens: null },
        { model: "c-7b", state: "no-vote", vote: null, seconds: 0.9, outputTokens: 10 },
      ],
    },
  ];
  const [row] = callRows(testServed({ latest }), 5);
  expect(row).toMatchObject({ votes: "2:0", confidence: "0.67", tau: "2/3", decided: "1.50\u00a0s" });
  expect(row?.experts.map(({ vote, text }) => [vote, text])).toEqual([
    ["42", "1.20\u00a0s"],
    [null, "late"],
    [null, "not waited for"],
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

  it("say that a deadline leaves the aggregator no time", () => {
    const served = testServed({ ensemble: testEnsemble({ deadlineSeconds: 600 }), decidesAfterSeconds: 300 });
    expect(onlineDoubts(served)).toEqual([expect.stringContaining("the gate decides after 300\u00a0s")]);
  });

  it("name in what a gateway's copy differs from the kept one", () => {
    const kept = { ensemble: testEnsemble(), version: 3, createdAt: "2026-03-01T10:00:00.000Z", actor: "x" };
    expect(differsFromKept(testEnsemble(), kept)).toBeNull();
    expect(differsFromKept(testEnsemble({ tau: 0.5, deadlineSeconds: 3 }), kept)).toContain("in tau, deadline");
    expect(differsFromKept(testEnsemble(), undefined)).toContain("no longer stored");
  });
});
