import type { AlternationReport } from "@/solver/plan/plan";
import { promisedQuality } from "../choose/choose";
import type { Knobs } from "../explore/exploration";
import type { Explorer } from "../explore/explorer";
import type { BothWays } from "./alternation";

/**
 * A plan's report on the alternation compared with the direct search. Figures are by the tables; which of the two ways was kept follows
 * from the plan's routing after finalists were simulated whole.
 *
 * @param routing the plan's.
 */
export function alternationReport(
  explorer: Explorer,
  { alternation, searched, alternated, difference }: BothWays,
  { routing, knobs }: { readonly routing: number; readonly knobs: Knobs },
): AlternationReport {
  const found = routing === alternated?.routing;
  const kept = found ? (routing >= searched ? "alternation" : "same") : "direct";
  if (alternated === null) return { iterations: alternation.iterates.length, found: null, kept, difference };
  const { stages, thresholds } = explorer.routing(alternated.routing);
  return {
    iterations: alternation.iterates.length,
    found: {
      stages: stages.map((model) => explorer.input.sample.models[model] ?? ""),
      thresholds: [...thresholds],
      latencySeconds: alternated.latencySeconds,
      quality: promisedQuality(knobs)(alternated),
    },
    kept,
    difference,
  };
}
