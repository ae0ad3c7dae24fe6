import { candidatesFor } from "@/solver/cascade/choose/choose";
import type { Candidate, Exploration, Knobs, Routing } from "@/solver/cascade/explore/exploration";
import { formatRouting, type RoutingChoice } from "../address/routingKey";
import { routingOf } from "../address/routingOf";

/** A routing with its figures in the tables. */
export interface FoundRouting {
  readonly candidate: Candidate;
  readonly routing: Routing;
  /** Where `candidate.routing` is an index. */
  readonly exploration: Exploration;
}

/**
 * The tables' figures for a routing: one from the search, or one on the lines around a routing set by hand. null where
 * neither has it. Fast enough for every step of a slider.
 *
 * @param candidates every routing of the exploration as deployed for the knobs, index = routing.
 * @param lines routings that differ from one in a single threshold, with every threshold that changes which answers are accepted.
 */
export function findRouting(
  asked: RoutingChoice,
  tables: { readonly exploration: Exploration; readonly candidates: readonly Candidate[]; readonly lines: Exploration | null },
  knobs: Knobs,
): FoundRouting | null {
  const { exploration, candidates, lines } = tables;
  const searched = foundAt(exploration, candidates, positions(exploration).get(formatRouting(asked)));
  if (searched !== null || lines === null) return searched;
  const same = onLines(asked, lines);
  return same === null ? null : foundAt(lines, candidatesFor(lines, knobs), positions(lines).get(formatRouting(same)));
}

function foundAt(exploration: Exploration, candidates: readonly Candidate[], at: number | undefined): FoundRouting | null {
  const [candidate, routing] = at === undefined ? [] : [candidates[at], exploration.routings[at]];
  return candidate === undefined || routing === undefined ? null : { candidate, routing, exploration };
}

/** The routing on the lines that accepts the same answers: among thresholds between two adjacent scores, the upper one represents all. */
function onLines(asked: RoutingChoice, { models, routings }: Exploration): RoutingChoice | null {
  const stages = asked.models.map((model) => models.indexOf(model)).join();
  const own = routings.filter((routing) => routing.stages.join() === stages);
  const thresholds = asked.thresholds.map((threshold, stage) =>
    Math.min(...own.map((routing) => routing.thresholds[stage] ?? 0).filter((each) => each >= threshold)),
  );
  return thresholds.every(Number.isFinite) ? { ...asked, thresholds } : null;
}

const kept = new WeakMap<Exploration, ReadonlyMap<string, number>>();

/** The index of each routing by its key; cached, because an exploration never changes. */
function positions(exploration: Exploration): ReadonlyMap<string, number> {
  const known = kept.get(exploration);
  if (known !== undefined) return known;
  const made = new Map(exploration.routings.map((_, index) => [formatRouting(routingOf(exploration, index)), index]));
  kept.set(exploration, made);
  return made;
}
