import { best, meeting, promisedQuality } from "@/solver/cascade/choose/choose";
import type { Candidate, Exploration, Knobs } from "@/solver/cascade/explore/exploration";
import type { RoutingChoice } from "../address/routingKey";
import { routingOf } from "../address/routingOf";

/** The rank where the search evaluated no routing of a cascade, so that all are equally good. */
const MIDDLE = 50;

/**
 * A cascade with one model more or fewer, at the thresholds that suit the knobs best among those the search evaluated: those that meet
 * floor and budget, else those with the highest quality. null where no model would be left.
 */
export function toggleStage(
  { models }: RoutingChoice,
  model: string,
  tables: { readonly exploration: Exploration; readonly candidates: readonly Candidate[]; readonly knobs: Knobs },
): RoutingChoice | null {
  const { exploration, candidates, knobs } = tables;
  const next = exploration.models.filter((each) => models.includes(each) !== (each === model));
  if (next.length === 0) return null;
  const stages = next.map((each) => exploration.models.indexOf(each)).join();
  const own = candidates.filter(({ routing }) => {
    const found = exploration.routings[routing];
    return found !== undefined && found.startBelow === 0 && found.stages.join() === stages;
  });
  const quality = promisedQuality(knobs);
  const serving = own.filter(({ latencySeconds }) => latencySeconds < Number.POSITIVE_INFINITY);
  const suits =
    best(meeting(serving, knobs), knobs.kind, quality) ??
    best(serving, "quality-under-latency", quality) ??
    best(own, "quality-under-latency", quality);
  return suits === null ? { models: next, thresholds: next.slice(1).map(() => MIDDLE) } : routingOf(exploration, suits.routing);
}
