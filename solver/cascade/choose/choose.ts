import { PLANNED_LOAD } from "@/solver/engine/plannedLoad";
import { boundText, counted, rateText, secondsText, usdText } from "@/solver/wording/wording";
import type { Candidate, Choice, Exploration, Knobs } from "../explore/exploration";
import { paretoFront } from "../explore/paretoFront";
import { allocate } from "./allocate";
import { onFewestGpus } from "./onFewestGpus";
import { highestQuality, slackApplies, slackLimit, withChosen } from "./slackChoice";
import { type SlackFigures, slackSays } from "./slackSays";

/**
 * Chooses routing and GPUs for one setting of the knobs from the tables of an exploration: exact over all routings in it. Fast
 * enough for every step of a slider: the allocations are kept per GPU count, so moving the floor only sorts. No
 * simulation; the plan that is built afterwards is verified whole.
 */
export function choose(exploration: Exploration, asked: Knobs): Choice {
  const knobs = { ...asked, maxGpus: Math.min(asked.maxGpus, exploration.maxGpus) };
  const quality = promisedQuality(knobs);
  const slack = slackApplies(knobs) ? withinSlack(exploration, knobs) : null;
  if (slack !== null) {
    const { limitSeconds } = slack.slack;
    const infeasible = slack.chosen === null ? whyInfeasible(exploration, { ...knobs, latencyBudgetSeconds: limitSeconds }) : null;
    return { ...slack, infeasible, frontier: latencyFrontier(slack.candidates, quality) };
  }
  const candidates = candidatesFor(exploration, knobs);
  const frontier = latencyFrontier(candidates, quality);
  const chosen = best(meeting(candidates, knobs), knobs.kind, quality);
  if (chosen !== null)
    return { chosen, infeasible: null, slack: null, binds: whatBinds(exploration, knobs, { chosen, candidates }), candidates, frontier };
  return { chosen: null, infeasible: whyInfeasible(exploration, knobs), slack: null, binds: null, candidates, frontier };
}

/**
 * The choice within a slack: of the candidates at the floor within the latency that it allows, the one of the highest quality, or, when the
 * cost is minimised, the cheapest. Null where nothing meets floor and budget.
 */
function withinSlack(
  exploration: Exploration,
  knobs: Knobs,
): (Pick<Choice, "chosen" | "binds" | "candidates"> & { readonly slack: NonNullable<Choice["slack"]> }) | null {
  const onAll = allocated(exploration, knobs.maxGpus, knobs.latency);
  const quality = promisedQuality(knobs);
  const fastest = best(meeting(onAll, knobs), "latency-under-quality", quality);
  if (fastest === null) return null;
  const limitSeconds = slackLimit(fastest.latencySeconds, knobs);
  const limit = { ...knobs, latencyBudgetSeconds: limitSeconds };
  const byCost = knobs.kind === "cost-under-both";
  const sized = byCost ? candidatesFor(exploration, limit) : onAll;
  const within = meeting(sized, limit);
  const chosen = byCost ? best(within, knobs.kind, quality) : highestQuality(exploration, within, { limit, quality });
  // The fastest here may exceed a limit that counts from another kind of policy.
  if (chosen === null) return { chosen, slack: { limitSeconds, fastest }, binds: null, candidates: sized };
  const figures = (one: Candidate): SlackFigures => ({ ...one, quality: quality(one), gpus: one.gpusTotal });
  const binds = slackSays(knobs, { limitSeconds, fastest: figures(fastest), chosen: figures(chosen) });
  return { chosen, slack: { limitSeconds, fastest }, binds, candidates: byCost ? sized : withChosen(sized, chosen) };
}

/**
 * Every routing with its GPU allocation, index = routing: all available GPUs or, when the cost is minimised, the fewest that meet the
 * latency budget (all GPUs if none do).
 */
export function candidatesFor(exploration: Exploration, knobs: Omit<Knobs, "qualityFloor" | "qualityConfidence">): readonly Candidate[] {
  const onAll = allocated(exploration, Math.min(knobs.maxGpus, exploration.maxGpus), knobs.latency);
  if (knobs.kind !== "cost-under-both") return onAll;
  return onAll.map((candidate) => onFewestGpus(exploration, candidate, knobs));
}

/** Two latencies whose ratio is at most this may swap order once both are simulated whole: tables have errors of some per cent. */
export const NEAR_TIE = 1.05;

/** The candidates at the floor or above whose latency exceeds the budget by no more than the error of the tables. */
export function nearMisses(candidates: readonly Candidate[], knobs: Knobs): readonly Candidate[] {
  const budget = knobs.latencyBudgetSeconds ?? Number.MAX_VALUE;
  const allowed = meeting(candidates, { ...knobs, latencyBudgetSeconds: Math.min(NEAR_TIE * budget, Number.MAX_VALUE) });
  return allowed.filter(({ latencySeconds }) => latencySeconds > budget);
}

/** The figures by which an objective compares candidates, of whatever kind of policy. */
export type ComparedFigures = Pick<Candidate, "latencySeconds" | "costUsdPerRequest" | "quality" | "qualityLow">;

/** The candidates that sustain their load, at the floor or above and within the budget. */
export function meeting<Compared extends ComparedFigures>(candidates: readonly Compared[], knobs: Knobs): readonly Compared[] {
  const quality = promisedQuality(knobs);
  const floor = knobs.qualityFloor ?? 0;
  const budget = knobs.latencyBudgetSeconds ?? Number.MAX_VALUE;
  return candidates.filter((candidate) => quality(candidate) >= floor && candidate.latencySeconds <= budget);
}

/** The quality that a knob setting plans with: the lower bound, or the point value when no confidence is requested. */
export function promisedQuality(knobs: Pick<Knobs, "qualityConfidence">): (candidate: ComparedFigures) => number {
  return knobs.qualityConfidence === null ? (candidate) => candidate.quality : (candidate) => candidate.qualityLow;
}

/** The best by the objective: lowest latency, highest quality or lowest cost; then the cheapest, or the fastest of the cheapest. */
export function best<Compared extends ComparedFigures>(
  candidates: readonly Compared[],
  kind: Knobs["kind"],
  quality: (candidate: ComparedFigures) => number,
): Compared | null {
  const keys = {
    "latency-under-quality": [(candidate: ComparedFigures) => candidate.latencySeconds, costOf],
    "quality-under-latency": [(candidate: ComparedFigures) => -quality(candidate), costOf],
    "cost-under-both": [costOf, (candidate: ComparedFigures) => candidate.latencySeconds],
  } as const;
  const [key, tie] = keys[kind];
  let found: Compared | null = null;
  for (const candidate of candidates) {
    if (found === null) found = candidate;
    else {
      const gain = key(found) - key(candidate);
      if (gain > 0 || (gain === 0 && tie(candidate) < tie(found))) found = candidate;
    }
  }
  return found;
}

const costOf = (candidate: ComparedFigures): number => candidate.costUsdPerRequest;

const kept = new WeakMap<Exploration, Map<string, readonly Candidate[]>>();

/** Every routing at its best allocation; cached, since only GPU count and latency objective change it. */
function allocated(exploration: Exploration, gpus: number, latency: Knobs["latency"]): readonly Candidate[] {
  const own = kept.get(exploration) ?? new Map<string, readonly Candidate[]>();
  kept.set(exploration, own);
  const key = `${latency} ${gpus}`;
  const known = own.get(key);
  if (known !== undefined) return known;
  const fresh = exploration.routings.map((_, routing) => allocate(exploration, routing, { gpus, latency }));
  own.set(key, fresh);
  return fresh;
}

/** Positions of the candidates that no other candidate beats in both latency and quality, by rising quality. */
function latencyFrontier(candidates: readonly Candidate[], quality: (candidate: Candidate) => number): number[] {
  const figures = candidates.map((candidate) => ({
    quality: quality(candidate),
    latency: candidate.latencySeconds,
    cost: candidate.costUsdPerRequest,
    gpus: candidate.gpusTotal,
  }));
  return paretoFront(figures, ["quality", "latency"]);
}

function whatBinds(
  exploration: Exploration,
  knobs: Knobs,
  { chosen, candidates }: { readonly chosen: Candidate; readonly candidates: readonly Candidate[] },
): string {
  const quality = promisedQuality(knobs);
  const without = (change: Partial<Knobs>): Candidate | null => {
    const relaxed = { ...knobs, ...change };
    // The GPUs follow from the budget only when the cost is minimised.
    const own = relaxed.latencyBudgetSeconds === knobs.latencyBudgetSeconds ? candidates : candidatesFor(exploration, relaxed);
    return best(meeting(own, relaxed), knobs.kind, quality);
  };
  if (knobs.kind === "cost-under-both")
    return whatBindsCost(chosen, {
      floorless: without({ qualityFloor: null }),
      budgetless: without({ latencyBudgetSeconds: null }),
      quality,
    });
  const free = without({ qualityFloor: null, latencyBudgetSeconds: null });
  if (free === null || free === chosen) {
    const gpus = knobs.maxGpus === 1 ? "The only GPU binds" : `The ${knobs.maxGpus} GPUs bind`;
    return `${gpus}: neither the floor nor the budget changes the choice.`;
  }
  if (knobs.kind === "latency-under-quality")
    return `The quality floor binds: without it ${secondsText(free.latencySeconds)} would do, at a quality of ${boundText(quality(free))}.`;
  return `The latency budget binds: without it a quality of ${boundText(quality(free))} is reached, at ${secondsText(free.latencySeconds)}.`;
}

interface Relaxed {
  readonly floorless: Candidate | null;
  readonly budgetless: Candidate | null;
  readonly quality: (candidate: Candidate) => number;
}

function whatBindsCost(chosen: Candidate, { floorless, budgetless, quality }: Relaxed): string {
  const saves = (other: Candidate | null): other is Candidate => other !== null && costOf(other) < costOf(chosen);
  const instead = (other: Candidate): string =>
    `${usdText(costOf(other))} on ${counted(other.gpusTotal, "GPU")} would do, instead of ${usdText(costOf(chosen))} on ${chosen.gpusTotal}`;
  const binds = [
    ...(saves(floorless)
      ? [`The quality floor binds: without it ${instead(floorless)}, at a quality of ${boundText(quality(floorless))}.`]
      : []),
    ...(saves(budgetless)
      ? [`The latency budget binds: without it ${instead(budgetless)}, at ${secondsText(budgetless.latencySeconds)}.`]
      : []),
  ];
  return binds.length === 0 ? "The load binds: neither floor nor budget makes the plan dearer." : binds.join(" ");
}

function whyInfeasible(exploration: Exploration, knobs: Knobs): NonNullable<Choice["infeasible"]> {
  const candidates = allocated(exploration, knobs.maxGpus, knobs.latency);
  const serving = candidates.filter((candidate) => candidate.latencySeconds < Number.POSITIVE_INFINITY);
  const here = `${rateText(exploration.requestsPerSecond)} on ${counted(knobs.maxGpus, "GPU")}`;
  const quality = promisedQuality(knobs);
  const measure =
    knobs.qualityConfidence === null ? "quality" : `lower ${Math.round(100 * exploration.qualityConfidence)} % bound of quality`;
  const highest = best(serving, "quality-under-latency", quality);
  const fastest = best(serving, "latency-under-quality", quality);
  if (highest === null || fastest === null) {
    return {
      kind: "overloaded",
      reason: `No routing sustains ${here} within ${100 * PLANNED_LOAD} % of what replicas carry at saturation: add GPUs or lower the rate.`,
      bestQuality: null,
      bestLatencySeconds: null,
    };
  }
  const reach = { bestQuality: quality(highest), bestLatencySeconds: fastest.latencySeconds };
  const floor = knobs.qualityFloor ?? 0;
  const budget = knobs.latencyBudgetSeconds ?? Number.POSITIVE_INFINITY;
  if (quality(highest) < floor && candidates.some((candidate) => quality(candidate) >= floor)) {
    return {
      ...reach,
      kind: "quality-floor",
      reason: `The floor of ${floor} is reachable, but not at ${here}: at most ${boundText(quality(highest))} here. Add GPUs, lower the rate, or lower the floor.`,
    };
  }
  if (quality(highest) < floor) {
    return {
      ...reach,
      kind: "quality-floor",
      reason: `No thresholds reach a quality floor of ${floor}: the best ${measure} is ${boundText(quality(highest))}, at ${secondsText(highest.latencySeconds)}. Lower the floor to ${Math.floor(10 * quality(highest)) / 10}.`,
    };
  }
  if (fastest.latencySeconds > budget) {
    return {
      ...reach,
      kind: "latency-budget",
      reason: `No plan meets a latency budget of ${secondsText(budget)}: the lowest is ${secondsText(fastest.latencySeconds)}, at a quality of ${boundText(quality(fastest))}.`,
    };
  }
  const within =
    best(
      serving.filter((candidate) => candidate.latencySeconds <= budget),
      "quality-under-latency",
      quality,
    ) ?? fastest;
  const above =
    best(
      serving.filter((candidate) => quality(candidate) >= floor),
      "latency-under-quality",
      quality,
    ) ?? highest;
  return {
    kind: "floor-and-budget",
    bestQuality: quality(within),
    bestLatencySeconds: above.latencySeconds,
    reason: `Floor and budget exclude one another: a quality of ${floor} takes ${secondsText(above.latencySeconds)}, and ${secondsText(budget)} allow ${boundText(quality(within))}.`,
  };
}
