import { costUsdPerRequest } from "../choose/allocate";
import { best, NEAR_TIE, promisedQuality } from "../choose/choose";
import type { Candidate, Knobs } from "../explore/exploration";
import { judgementsOf } from "../routing/routing";
import { relativePercentileOf } from "../tables/deployedRows";
import type { NearTables } from "../tables/latencyTables";
import type { ShapeCurve } from "../tables/shapeMix";
import { bestDeployment, type Constrained, type RoutingCurves, rowsToDeploy } from "./constrainedDeployment";

/** Maximum number of routings deployed by shared tables, also while none can be; with node loss each takes a hundred times as long. */
const MOST_TRIED = { usually: { some: 150, none: 1500 }, survivingNodeLoss: { some: 8, none: 24 } };

/** Time for one of them. */
const TRIAL_SECONDS = 0.5;

/** Number of deployable routings required before the search may end: a whole simulation may not confirm the tables' latency. */
const ENOUGH = 4;

/** Routings of one cascade whose stages' shares differ by less than this are equivalent for a deployment: the best represents all. */
const SHARE_STEP = 0.04;

/** A candidate as it can be deployed, with the latency, cost and GPUs of that deployment by the tables. */
interface DeployedCandidate extends Candidate {
  /** The latency that a budget applies to: after the worst loss of a node, where a loss is to be survived. */
  readonly heldSeconds: number;
}

/** The outcome of deploying candidates under the constraints. */
export interface ConstrainedCandidates {
  /** Those that can be deployed. */
  readonly candidates: readonly DeployedCandidate[];
  /** Those that can be deployed and exceed the latency budget by no more than the error of the tables. */
  readonly misses: readonly DeployedCandidate[];
  /** Those that the constraints rule out, with their figures without constraints, the best first. */
  readonly refused: readonly Candidate[];
  /** Whether some that may be better were left untried. */
  readonly cut: boolean;
  readonly tried: number;
}

/**
 * Candidates as the constraints let them be deployed, by the tables that routings share. Without constraints a candidate is at least
 * as good, up to the tables' error: so candidates are tried best first, until the best deployed one beats the next.
 *
 * @param pool candidates that keep floor and budget without the constraints, and those that exceed the budget by no more than the error of
 * the tables: of these the best of each cascade is tried where it would be better.
 * @param sought `any`: the search ends at the first that can be deployed within the budget.
 */
export function constrainedCandidates(
  input: Constrained,
  pool: { readonly within: readonly Candidate[]; readonly over: readonly Candidate[] },
  knobs: Knobs,
  sought: "best" | "any" = "best",
): ConstrainedCandidates {
  const quality = promisedQuality(knobs);
  const { some, none } = input.constraints.surviveNodeLoss ? MOST_TRIED.survivingNodeLoss : MOST_TRIED.usually;
  const budget = knobs.latencyBudgetSeconds ?? Number.MAX_VALUE;
  const candidates: DeployedCandidate[] = [];
  const misses: DeployedCandidate[] = [];
  const refused: Candidate[] = [];
  let left = representatives(input, pool.within, knobs, SHARE_STEP);
  let tried = 0;
  for (;;) {
    const next = best(left, knobs.kind, quality);
    const leader = best(candidates, knobs.kind, quality);
    const ahead = leader !== null && best([leader, ...left], knobs.kind, quality) === leader;
    if (next === null || (sought === "any" ? leader !== null : ahead && candidates.length >= ENOUGH)) break;
    if (tried >= (leader === null ? none : some)) return { candidates, misses, refused, cut: !ahead, tried };
    left = left.filter((candidate) => candidate !== next);
    attempt(next);
  }
  const leader = best(candidates, knobs.kind, quality);
  for (const next of representatives(input, pool.over, knobs, Number.POSITIVE_INFINITY))
    if (tried < (leader === null ? none : some) && (leader === null || best([leader, next], knobs.kind, quality) === next)) attempt(next);
  return { candidates, misses, refused, cut: false, tried };

  function attempt(next: Candidate): void {
    input.explorer.input.progress?.({ phase: "deploying", done: tried, of: null });
    tried += 1;
    const found = bestDeployment(input, sharedCurves(input, next), {
      seconds: TRIAL_SECONDS,
      budgetSeconds: knobs.latencyBudgetSeconds,
    });
    if (found === "refused") refused.push(next);
    if (found === null || found === "refused") return;
    const { gpus, usdPerHour, stages } = found.deployment;
    const { judge, requestsPerSecond } = input.explorer.input;
    const { routed, thresholds } = input.explorer.routing(next.routing);
    const judgements = judgementsOf(routed, thresholds);
    const deployed: DeployedCandidate = {
      ...next,
      gpus: stages
        .slice(0, next.gpus.length)
        .map(({ replicas }) => replicas.reduce((sum, { option }) => sum + option.shape.tp * option.shape.pp, 0)),
      gpusTotal: gpus,
      latencySeconds: found.seconds,
      heldSeconds: found.secondsAfterLoss,
      costUsdPerRequest: costUsdPerRequest({ gpus: 1, usdPerGpuHour: usdPerHour, requestsPerSecond, judgements, judge }),
    };
    if (found.secondsAfterLoss <= budget) candidates.push(deployed);
    else if (found.secondsAfterLoss <= NEAR_TIE * budget) misses.push(deployed);
  }
}

/** The best candidate of each cascade and each load on its stages: shares that differ by less than a step count as one load. */
function representatives({ explorer }: Constrained, pool: readonly Candidate[], knobs: Knobs, shareStep: number): readonly Candidate[] {
  const alike = new Map<string, Candidate[]>();
  for (const candidate of pool) {
    const { stages, routed } = explorer.routing(candidate.routing);
    const key = `${stages.join("-")} ${routed.share.map((share) => Math.round(share / shareStep)).join("-")}`;
    const own = alike.get(key);
    if (own === undefined) alike.set(key, [candidate]);
    else own.push(candidate);
  }
  return [...alike.values()].flatMap((own) => best(own, knobs.kind, promisedQuality(knobs)) ?? []);
}

function sharedCurves(input: Constrained, { routing, gpus }: Candidate): RoutingCurves {
  const { explorer } = input;
  const evaluated = explorer.routing(routing);
  const near = rowsToDeploy(input, routing).map((row) => row.near());
  const aim = evaluated.tables.map((table, stage) => table[(gpus[stage] ?? 0) - 1] ?? Number.POSITIVE_INFINITY);
  return {
    routing,
    shapes: near.map(stretched),
    norms: near.slice(0, evaluated.tables.length).map((own) => ({ relativePercentile: relativePercentileOf(own) })),
    aim: aim.every((seconds) => seconds < Number.POSITIVE_INFINITY) ? aim : null,
  };
}

/** The curves of the tables of a similar mix, rescaled for requests longer by a factor. */
const stretched = ({ tables, lengthFactor }: NearTables): readonly ShapeCurve[] =>
  tables.capacity.shapes.map(({ curve, ...shape }) => ({
    ...shape,
    curve: {
      rates: curve.rates.map((rate) => rate / lengthFactor),
      seconds: curve.seconds.map((seconds) => seconds * lengthFactor),
      saturationRequestsPerSecond: curve.saturationRequestsPerSecond / lengthFactor,
    },
  }));
