import { occurringScores } from "../routing/routingGrid";
import type { Exploration } from "./exploration";
import type { Explorer } from "./explorer";
import type { FixedRouting } from "./fixedDeployment";
import { gatherExploration } from "./gatherExploration";

const HIGHEST_SCORE = 100;

/**
 * A routing set by hand, and all routings that differ from it in one threshold or in the router score to start at: the routings that one
 * moving knob passes through. The upper of two judged scores represents all thresholds between them, as in the search; above
 * the highest score, 100 represents all and escalates every answer. Returns early with the results so far when the explorer is cancelled.
 */
export function variedRoutings(explorer: Explorer, { stages, thresholds, startBelow }: FixedRouting): Exploration {
  const { sample, directStart, cancelled } = explorer.input;
  explorer.search();
  const lines = stages.slice(0, -1).map((model) => {
    const scores = occurringScores(sample.judged[model] ?? new Float64Array());
    return scores.at(-1) === HIGHEST_SCORE ? scores : [...scores, HIGHEST_SCORE];
  });
  const held = thresholds.map((threshold, stage) => lines[stage]?.find((score) => score >= threshold) ?? threshold);
  const starts = directStart === undefined || stages.length === 1 ? [] : Array.from({ length: HIGHEST_SCORE + 1 }, (_, score) => score);
  const found = new Set([explorer.add(stages, held, startBelow)]);
  for (const [stage, scores] of lines.entries())
    for (const score of scores) if (!cancelled()) found.add(explorer.add(stages, held.with(stage, score), startBelow));
  for (const start of starts) if (!cancelled()) found.add(explorer.add(stages, held, start));
  return gatherExploration(explorer.input, [...found].map(explorer.routing));
}
