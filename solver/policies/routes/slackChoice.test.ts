import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Candidate, type Slack, slackChoice } from "./slackChoice";

const fewLoads = fc.oneof(fc.constantFrom(0, 1, 2, Number.POSITIVE_INFINITY), fc.double({ min: 0, max: 100, noNaN: true }));
const fraction = fc.oneof(fc.constantFrom(0, 0.5, 1), fc.double({ min: 0, max: 1, noNaN: true }));
const anyCandidates = fc.array(fc.record({ load: fewLoads, confidence: fraction }), { minLength: 1, maxLength: 6 });
const anySlack = fc.record({ tau: fewLoads.filter(Number.isFinite), deltaScore: fraction, floorSeconds: fewLoads.filter(Number.isFinite) });

/** Lines 12 to 22 as printed: the loop ends at the first model within the slack, whether or not that has the margin. */
function printedLoop(candidates: readonly Candidate[], { tau, deltaScore, floorSeconds }: Slack): number {
  const byConfidence = [...candidates.entries()].sort(([, a], [, b]) => b.confidence - a.confidence);
  const least = Math.min(...candidates.map(({ load }) => load));
  const [fast, { confidence }] = byConfidence.find(([, { load }]) => load === least)!;
  let chosen = fast;
  let chosenConfidence = confidence;
  for (const [index, candidate] of byConfidence) {
    if (candidate.load <= (1 + tau) * Math.max(least, floorSeconds)) {
      if (candidate.confidence >= chosenConfidence + deltaScore) {
        chosen = index;
        chosenConfidence = candidate.confidence;
      }
      break;
    }
  }
  return chosen;
}

describe("slackChoice", () => {
  it("chooses as the source's printed loop does, which ends at the first model within the slack", () => {
    fc.assert(
      fc.property(anyCandidates, anySlack, (candidates, slack) => {
        expect(slackChoice(candidates, slack)).toBe(printedLoop(candidates, slack));
      }),
      { numRuns: 2000 },
    );
  });

  it("never chooses a model beyond the slack, nor one less sure than the least loaded", () => {
    fc.assert(
      fc.property(anyCandidates, anySlack, (candidates, slack) => {
        const chosen = candidates[slackChoice(candidates, slack)]!;
        const least = Math.min(...candidates.map(({ load }) => load));
        const surest = Math.max(...candidates.filter(({ load }) => load === least).map(({ confidence }) => confidence));
        expect(chosen.load).toBeLessThanOrEqual(Math.max(least, (1 + slack.tau) * Math.max(least, slack.floorSeconds)));
        expect(chosen.confidence).toBeGreaterThanOrEqual(surest);
      }),
    );
  });

  const [small, large] = [
    { load: 0, confidence: 0.4 },
    { load: 2, confidence: 0.8 },
  ];

  it("prefers no model that works to an idle one without a floor, as in the source", () => {
    expect(slackChoice([small, large], { tau: 5, deltaScore: 0.1, floorSeconds: 0 })).toBe(0);
    expect(slackChoice([small, large], { tau: 1, deltaScore: 0.1, floorSeconds: 1 })).toBe(1);
    expect(slackChoice([small, large], { tau: 0.9, deltaScore: 0.1, floorSeconds: 1 })).toBe(0);
  });

  it("keeps to the least loaded where none is surer by the margin", () => {
    expect(slackChoice([small, large], { tau: 9, deltaScore: 0.5, floorSeconds: 1 })).toBe(0);
  });
});
