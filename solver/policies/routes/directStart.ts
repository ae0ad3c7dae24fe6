import type { RouterScores, Start } from "../core/policy";

const FIRST: Start = { stage: 0, reason: "first-stage" };

/** Every request starts at the first stage. */
export const startAtFirst = (): Start => FIRST;

/**
 * A request starts at the first stage whose model a router scores at least at the stage's minimum score; where there is none, at the last.
 * A model without a router score is not passed over: without any scores requests start at the first stage.
 *
 * @param leastScores 0..100, one for each stage but the last.
 */
export function startWhereSure(models: readonly string[], leastScores: readonly number[], scores: RouterScores): Start {
  for (const [stage, least] of leastScores.entries()) {
    const score = scores(models[stage] ?? "");
    if (score === undefined) return { stage, reason: `no-router-score-of-${models[stage]}` };
    if (score >= least) return { stage, reason: "router-score-high-enough" };
  }
  return { stage: leastScores.length, reason: "no-router-score-high-enough" };
}
