import type { CascadeRoutingDocument } from "@/solver/nextModel/cascadeRoutingDocument";
import { nextModelOf } from "@/solver/nextModel/nextModel";
import type { Evidence, RouterScores, Start } from "../core/policy";
import type { Verdict } from "../core/policyParts";

/** The choices of cascade routing. */
interface GainChoice {
  /** A request that the router does not score for every model starts at the first stage. */
  start(routerScores: RouterScores): Start;
  /** @param score of the stage's gate for the answer at hand. @returns null for a request that the router does not score for every model. */
  verdict(stage: number, score: number, evidence: Evidence): Verdict | null;
  /** Whether the stage's answer is scored; also where the thresholds decide. */
  scores(stage: number, evidence: Evidence): boolean;
}

/**
 * Cascade routing as starts and verdicts: `nextModel.ts` has the rule and its source.
 *
 * @param models one for each stage of the document.
 */
export function gainChoice(models: readonly string[], document: CascadeRoutingDocument): GainChoice {
  const next = nextModelOf(document);
  return {
    start(routerScores) {
      const scores = scoresOf(models, routerScores);
      if (scores === null) {
        const missing = models.find((model) => routerScores(model) === undefined);
        return { stage: 0, reason: `no-router-score-of-${missing}` };
      }
      const gain = next.choose(scores, []);
      return { stage: gain.stage ?? 0, reason: "largest-expected-gain", gain };
    },
    verdict(stage, score, { routerScores, answers }) {
      const scores = scoresOf(models, routerScores);
      if (scores === null) return null;
      const gain = next.choose(scores, [...answers, { stage, score }]);
      return gain.stage === null
        ? { kind: "accept", reason: "no-gain-worth-its-cost", gain }
        : { kind: "escalate", stage: gain.stage, reason: "largest-expected-gain", gain };
    },
    scores(stage, { routerScores, answers }) {
      const scores = scoresOf(models, routerScores);
      return scores === null || next.scores(scores, answers, stage);
    },
  };
}

function scoresOf(models: readonly string[], routerScores: RouterScores): readonly number[] | null {
  const scores = models.flatMap((model) => routerScores(model) ?? []);
  return scores.length === models.length ? scores : null;
}
