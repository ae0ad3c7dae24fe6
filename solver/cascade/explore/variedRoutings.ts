import type { StartBelow } from "@/solver/plan/directStart";
import { occurringScores } from "../routing/routingGrid";
import type { Exploration } from "./exploration";
import type { Explorer } from "./explorer";
import type { FixedRouting } from "./fixedDeployment";
import { gatherExploration } from "./gatherExploration";

const HIGHEST_SCORE = 100;

/**
 * A routing set by hand, and all routings that differ from it in one threshold or in one router score to start at: the routings that one
 * moving knob passes through. The upper of two judged scores represents all thresholds between them, as in the search; above
 * the highest score, 100 represents all and escalates every answer. Returns early with the results so far when the explorer is cancelled.
 */
export function variedRoutings(explorer: Explorer, { stages, thresholds, startBelow }: FixedRouting): Exploration {
  const { sample, directStart, cancelled } = explorer.input;
  explorer.search();
  const lines = stages.slice(0, -1).map((model) => {
    const scores = occurringScores(sample.judged[model] ?? new Float64Array());
    // At 0 nothing is judged, at the lowest score every judged answer is accepted.
    return [...new Set([0, ...scores, HIGHEST_SCORE])];
  });
  const held = thresholds.map((threshold, stage) => lines[stage]?.find((score) => score >= threshold) ?? threshold);
  const scores = Array.from({ length: HIGHEST_SCORE + 1 }, (_, score) => score);
  const starts: readonly StartBelow[] =
    directStart === undefined || stages.length === 1
      ? []
      : typeof startBelow === "number"
        ? scores
        : startBelow.flatMap((_, stage) => scores.map((score) => startBelow.with(stage, score)));
  const found = new Set([explorer.add(stages, held, startBelow)]);
  for (const [stage, occurring] of lines.entries())
    for (const score of occurring) if (!cancelled()) found.add(explorer.add(stages, held.with(stage, score), startBelow));
  for (const start of starts) if (!cancelled()) found.add(explorer.add(stages, held, start));
  return gatherExploration(explorer.input, [...found].map(explorer.routing));
}
