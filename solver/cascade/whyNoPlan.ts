import { asksForAnything, constraintsOf, type PlanConstraints } from "../deployment/constraints";
import type { Conflict, ConflictingConstraint } from "../deployment/explainInfeasible";
import type { BuildPlanInput, NoPlan } from "./buildPlan";
import { choose, meeting, promisedQuality } from "./choose";
import { type ConstrainedCandidates, constrainedCandidates } from "./constrainedCandidates";
import { type Constrained, gpusAllowed, isConstrained } from "./constrainedDeployment";
import { conflictOf } from "./constrainedFinalist";
import type { Candidate, Choice, Exploration, Knobs } from "./exploration";
import type { Finalist } from "./finalist";
import { onFewestGpus } from "./onFewestGpus";
import { counted, secondsText } from "./wording";

/** How a search for a plan ended without one. */
export interface Ended {
  readonly exploration: Exploration;
  /** With the GPUs that the constraints allow. */
  readonly knobs: Knobs;
  readonly choice: Choice;
  readonly pool: readonly Candidate[];
  /** null where nothing but GPU counts was asked. */
  readonly constrained: ConstrainedCandidates | null;
  readonly verified: readonly Finalist[];
  /** Why the last that was refused as unstable was; null where none was. */
  readonly unstable: string | null;
}

type Asked = BuildPlanInput & Constrained;

/** Why there is no plan, in operators' words: the constraints that conflict, the floor or budget out of reach, or too few GPUs. */
export function whyNoPlan(input: Asked, ended: Ended): NoPlan {
  const { choice, constrained, unstable } = ended;
  const capped = cappedOut(input, ended);
  if (capped !== null) return capped;
  if (choice.infeasible !== null) return { outcome: "infeasible", ...choice.infeasible };
  const refused = constrained?.candidates.length === 0 ? constrained.refused : null;
  const conflict = refused === null ? null : conflictOf(input, refused.routing);
  if (conflict !== null) return conflicting(input, ended, conflict);
  const late = constrained?.late ?? null;
  if (late !== null && constrained?.candidates.length === 0)
    return {
      outcome: "infeasible",
      reason: `Under the constraints no plan keeps the latency budget of ${input.objective.latencyBudgetSeconds} s: the lowest is ${secondsText(late.latencySeconds)}, by the tables.`,
      bestQuality: null,
      bestLatencySeconds: late.latencySeconds,
    };
  return { outcome: "infeasible", reason: unstable ?? noneVerified(input, ended), bestQuality: null, bestLatencySeconds: null };
}

/**
 * Where a cap on GPUs or cost rules every plan out: the cap with the least GPUs that would do, or, with other constraints beside it, the
 * conflict of all. null otherwise.
 */
function cappedOut(input: Asked, ended: Ended): NoPlan | null {
  const { exploration, knobs, choice } = ended;
  const { cluster, constraints, objective } = input;
  const free = gpusAllowed(cluster, { ...constraints, maxGpus: null, maxUsdPerHour: null }, objective.maxGpus);
  if (choice.infeasible === null || free === knobs.maxGpus) return null;
  const uncapped = { ...knobs, maxGpus: free };
  const { chosen } = choose(exploration, uncapped);
  if (chosen === null) return null;
  const besides = isConstrained(input);
  const conflict = besides ? conflictOf(input, chosen.routing) : null;
  if (conflict !== null) return conflicting(input, ended, conflict);
  const { gpusTotal } = onFewestGpus(exploration, chosen, uncapped);
  const usd = Number((gpusTotal * exploration.usdPerGpuHour).toFixed(2));
  const caps = constraintsOf({ constraints: capsOf(constraints), objective: { kind: "latency" } });
  const tooLow = caps
    .filter(({ kind }) => gpusAllowed(cluster, { ...capsOf(constraints), [kind]: null }, free) > knobs.maxGpus || caps.length === 1)
    .map(({ kind, model, says }): ConflictingConstraint => {
      if (besides) return { kind, model, says, nearest: null, needs: "too little for floor and budget with what else is asked" };
      const [nearest, needs] = kind === "maxGpus" ? [gpusTotal, `needs ${counted(gpusTotal, "GPU")}`] : [usd, `needs ${usd} USD/hour`];
      return { kind, model, says, nearest, needs };
    });
  const { bestQuality, bestLatencySeconds } = choice.infeasible;
  const reach =
    bestQuality === null || bestLatencySeconds === null
      ? "Under it nothing keeps up."
      : `Under it a quality of ${bestQuality.toFixed(1)} is reached, and ${secondsText(bestLatencySeconds)} by the fastest plan that counts.`;
  const says = tooLow.map((one) => `${one.says} (${one.needs})`).join("; ");
  return { outcome: "infeasible", reason: `This cannot be kept: ${says}. ${reach}`, bestQuality, bestLatencySeconds, conflict: tooLow };
}

const capsOf = ({ maxGpus, maxUsdPerHour }: PlanConstraints): PlanConstraints => ({
  pinned: [],
  shapes: [],
  excluded: [],
  nodes: [],
  minReplicasPerModel: null,
  surviveNodeLoss: false,
  maxUsdPerHour,
  maxGpus,
  maxChangedReplicas: null,
  idleGpus: true,
});

/** The conflict of the best routing, with the best quality that can be had without giving anything up. */
function conflicting(input: Asked, { exploration, knobs }: Ended, { says, constraints }: Conflict): NoPlan {
  const anyQuality: Knobs = { ...knobs, kind: "quality-under-latency", qualityFloor: null };
  const { candidates } = choose(exploration, anyQuality);
  const [highest] = constrainedCandidates(input, { within: meeting(candidates, anyQuality), over: [] }, anyQuality).candidates;
  const floor = asksForAnything(input.constraints) && highest !== undefined;
  const reach = floor ? ` Without giving any up, a quality of ${promisedQuality(knobs)(highest).toFixed(1)} can be had.` : "";
  return {
    outcome: "infeasible",
    reason: `${says}${reach}`,
    bestQuality: highest === undefined ? null : promisedQuality(knobs)(highest),
    bestLatencySeconds: null,
    conflict: constraints,
  };
}

function noneVerified({ objective, fixed, constraints }: Asked, { pool, verified }: Ended): string {
  const budget = objective.latencyBudgetSeconds;
  const under = asksForAnything(constraints) ? "Under the constraints no" : "No";
  if (fixed === null && budget !== null) {
    const least = Math.min(...verified.map(({ verifiedSeconds }) => verifiedSeconds));
    const lowest = verified.length === 0 ? "" : ` (the lowest was ${secondsText(least)})`;
    return `${under} plan kept the latency budget of ${budget} s when it was simulated whole${lowest}, though the tables promised it: allow a little more.`;
  }
  const gpus = counted(objective.maxGpus, "GPU");
  if (pool.every(({ latencySeconds }) => latencySeconds === Number.POSITIVE_INFINITY))
    return `Unstable: with these thresholds ${gpus} do not keep up with the requests each stage gets. Add GPUs, lower the rate or turn the thresholds.`;
  return `The chosen routing does not keep up on ${gpus}, or its replicas do not fit the nodes: add GPUs or lower the rate.`;
}
