import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AGGREGATE_ALL, type Confidence } from "./ensembleDocument";
import { decideGate, type Gate, settledGate, type Vote } from "./gate";

const experts = ["a", "b", "c", "d", "e"];
const plurality: Confidence = { kind: "plurality" };
const vote = (expert: string, given: string | null, outputTokens = 100): Vote => ({ expert, vote: given, outputTokens });
const votesOf = (text: string): readonly Vote[] => [...text].map((given, at) => vote(experts[at] ?? "", given === "-" ? null : given));
const gateOf = (asked: number, tau: number, confidence: Confidence = plurality): Gate => ({
  asked: experts.slice(0, asked),
  confidence,
  tau,
});

const accuracies = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 5, maxLength: 5 });
const lengths = fc.array(fc.integer({ min: 1, max: 300 }), { minLength: 5, maxLength: 5 });
const perExpert = (figures: readonly number[]): Record<string, number> =>
  Object.fromEntries(experts.map((expert, at) => [expert, figures[at] ?? 0]));
const confidences: fc.Arbitrary<Confidence> = fc.oneof(
  fc.constant(plurality),
  accuracies.map((figures): Confidence => ({ kind: "accuracy-weighted", accuracy: perExpert(figures) })),
  lengths.map((figures): Confidence => ({ kind: "length-aware", meanTokens: perExpert(figures) })),
);
const taus = fc.oneof(fc.constantFrom(1 / 3, 2 / 3, 1, 0.5, 0.75, AGGREGATE_ALL), fc.double({ min: 0.01, max: 1, noNaN: true }));
const givens = fc.constantFrom("x", "y", "z", null);
const situations = fc.record({
  votes: fc
    .array(fc.tuple(givens, fc.integer({ min: 0, max: 600 })), { minLength: 2, maxLength: 5 })
    .map((all) => all.map(([given, tokens], at) => vote(experts[at] ?? "", given, tokens))),
  confidence: confidences,
  tau: taus,
});

describe("under plurality", () => {
  test.each<[string, number, string, number, string]>([
    ["xxx", 1, "skip", 1, "3:0"],
    ["xxy", 1, "aggregate", 2 / 3, "2:1"],
    ["xxy", 2 / 3, "skip", 2 / 3, "2:1"],
    ["xxx", AGGREGATE_ALL, "aggregate", 1, "3:0"],
    ["xyz", 2 / 3, "aggregate", 1 / 3, "1:1:1"],
    ["xx-", 1, "aggregate", 2 / 3, "2:0"],
    ["---", 0.1, "aggregate", 0, "0"],
    ["x--", 1 / 3, "skip", 1 / 3, "1:0"],
  ])("three votes %s at tau %d: %s", (votes, tau, ...decision) => {
    const { kind, confidence, votes: counted } = decideGate(votesOf(votes), gateOf(3, tau));
    expect([kind, confidence, counted]).toEqual(decision);
  });

  test("a tie goes to the first in the ensemble's order, and so does the answer that stands for a vote", () => {
    expect(decideGate(votesOf("yxxyz").toReversed(), gateOf(5, 0.4)).leading).toEqual({ vote: "y", expert: "a" });
    expect(decideGate(votesOf("-xx"), gateOf(3, 0.5)).leading).toEqual({ vote: "x", expert: "b" });
  });

  test("an expert that was asked and is not there counts against agreement; one that was not asked counts for nothing", () => {
    expect(decideGate(votesOf("xx"), gateOf(3, 1)).confidence).toBe(2 / 3);
    expect(decideGate([...votesOf("xx"), vote("stranger", "y"), vote("a", "y")], gateOf(2, 1))).toMatchObject({
      kind: "skip",
      votes: "2:0",
    });
  });
});

test("one accurate expert outweighs two that are right as often as not, and stands for its vote", () => {
  const confidence: Confidence = { kind: "accuracy-weighted", accuracy: { a: 0.5, b: 0.55, c: 0.9 } };
  expect(decideGate(votesOf("xxy"), gateOf(3, 0.5, confidence))).toMatchObject({ kind: "skip", leading: { vote: "y", expert: "c" } });
  const weights = [Math.log(0.51 / 0.49), Math.log(0.55 / 0.45), Math.log(9)];
  expect(decideGate(votesOf("xxy"), gateOf(3, 0.5, confidence)).confidence).toBeCloseTo(
    (weights[2] ?? 0) / weights.reduce((sum, weight) => sum + weight),
    12,
  );
});

test("of those who gave the vote that leads the weightiest one's answer stands for it", () => {
  const confidence: Confidence = { kind: "accuracy-weighted", accuracy: { a: 0.6, b: 0.9, c: 0.7 } };
  expect(decideGate(votesOf("xxx"), gateOf(3, 1, confidence)).leading).toEqual({ vote: "x", expert: "b" });
});

test("a vote at three times an expert's usual length weighs a third", () => {
  const confidence: Confidence = { kind: "length-aware", meanTokens: { a: 100, b: 100, c: 100 } };
  const votes = [vote("a", "x", 50), vote("b", "x", 100), vote("c", "y", 300)];
  expect(decideGate(votes, gateOf(3, 0.8, confidence))).toMatchObject({ kind: "skip", confidence: expect.closeTo(2 / (2 + 1 / 3), 12) });
});

test("the order in which votes come changes nothing", () => {
  fc.assert(
    fc.property(situations, fc.array(fc.nat(), { minLength: 5, maxLength: 5 }), ({ votes, ...gate }, keys) => {
      const permuted = votes.map((given, at) => ({ given, key: keys[at] ?? 0 })).sort((a, b) => a.key - b.key);
      const asked = experts.slice(0, votes.length);
      expect(
        decideGate(
          permuted.map(({ given }) => given),
          { asked, ...gate },
        ),
      ).toEqual(decideGate(votes, { asked, ...gate }));
    }),
  );
});

test("a higher tau never skips what a lower one aggregates", () => {
  fc.assert(
    fc.property(situations, taus, ({ votes, confidence, tau }, other) => {
      const asked = experts.slice(0, votes.length);
      const [low, high] = [Math.min(tau, other), Math.max(tau, other)];
      const skips = (at: number): boolean => decideGate(votes, { asked, confidence, tau: at }).kind === "skip";
      expect(skips(high) && !skips(low)).toBe(false);
    }),
  );
});

test("confidence lies in 0..1, is 1 where all asked give one vote, and null never leads", () => {
  fc.assert(
    fc.property(situations, ({ votes, ...gate }) => {
      const asked = experts.slice(0, votes.length);
      const decision = decideGate(votes, { asked, ...gate });
      expect(decision.confidence).toBeGreaterThanOrEqual(0);
      expect(decision.confidence).toBeLessThanOrEqual(1);
      const standing = votes.find(({ expert }) => expert === decision.leading?.expert);
      if (decision.leading === null) expect(votes.every((one) => one.vote === null)).toBe(true);
      else expect(standing?.vote).toBe(decision.leading.vote);
      const unanimous = votes.map((one) => ({ ...one, vote: "x" }));
      expect(decideGate(unanimous, { asked, ...gate, tau: 1 })).toMatchObject({ kind: "skip", confidence: 1 });
    }),
  );
});

test("a decision is called settled exactly where no vote that is out can change it", () => {
  fc.assert(
    fc.property(situations, fc.nat({ max: 3 }), ({ votes, ...rest }, arrived) => {
      const gate = { asked: experts.slice(0, votes.length), ...rest };
      const there = votes.slice(0, Math.max(1, Math.min(arrived, votes.length)));
      const ends = completions(there, gate.asked).map((all) => decideGate(all, gate));
      const outcome = ({ kind, leading }: ReturnType<typeof decideGate>): string => (kind === "skip" ? `skip ${leading?.vote}` : kind);
      const settled = settledGate(there, gate);
      if (settled !== null) expect(new Set([...ends, settled].map(outcome)).size).toBe(1);
      else expect(new Set(ends.map(outcome)).size).toBeGreaterThan(1);
    }),
    { numRuns: 400 },
  );
});

/** All possible answers of the outstanding experts: each existing vote, new ones, none; short and long. */
function completions(there: readonly Vote[], asked: readonly string[]): readonly (readonly Vote[])[] {
  const next = asked.find((expert) => !there.some((one) => one.expert === expert));
  if (next === undefined) return [there];
  const known = [...new Set(there.map((one) => one.vote).filter((given) => given !== null))];
  const ways = [...known, "new", null].flatMap((given) => [1, 10_000].map((tokens) => vote(next, given, tokens)));
  return ways.flatMap((one) => completions([...there, one], asked));
}
