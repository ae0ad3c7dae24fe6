import { asksForAnything } from "../deployment/constraints";
import type { BuildPlanInput, NoPlan } from "./buildPlan";
import type { ConstrainedCandidates } from "./constrainedCandidates";
import type { Constrained } from "./constrainedDeployment";
import { type ConflictingConstraint, explainConflict } from "./explainConflict";
import type { Candidate, Choice } from "./exploration";
import type { Finalist } from "./finalist";
import { counted, secondsText } from "./wording";

/** How a search for a plan ended without one. */
export interface Ended {
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
  const { explorerUnder } = input;
  const deployed = constrained !== null && constrained.candidates.length + constrained.misses.length > 0;
  const conflict = explorerUnder === undefined || deployed ? null : explainConflict({ ...input, explorerUnder });
  if (conflict !== null) {
    const nearest = (kind: ConflictingConstraint["kind"]) => conflict.constraints.find((one) => one.kind === kind)?.nearest ?? null;
    return {
      outcome: "infeasible",
      reason: conflict.says,
      bestQuality: nearest("qualityFloor"),
      bestLatencySeconds: nearest("latencyBudgetSeconds"),
      conflict: conflict.constraints,
    };
  }
  if (choice.infeasible !== null) return { outcome: "infeasible", ...choice.infeasible };
  return { outcome: "infeasible", reason: unstable ?? noneVerified(input, ended), bestQuality: null, bestLatencySeconds: null };
}

function noneVerified({ objective, fixed, constraints }: Asked, { pool, verified }: Ended): string {
  const budget = objective.latencyBudgetSeconds;
  const under = asksForAnything(constraints) ? "Under the constraints no" : "No";
  if (fixed === null && budget !== null) {
    const least = Math.min(...verified.map(({ heldSeconds }) => heldSeconds));
    const lowest = verified.length === 0 ? "" : ` (the lowest was ${secondsText(least)})`;
    return `${under} plan kept the latency budget of ${budget} s when it was simulated whole${lowest}, though the tables promised it: allow a little more.`;
  }
  const gpus = counted(objective.maxGpus, "GPU");
  if (pool.every(({ latencySeconds }) => latencySeconds === Number.POSITIVE_INFINITY))
    return `Unstable: with these thresholds ${gpus} do not keep up with the requests each stage gets. Add GPUs, lower the rate or turn the thresholds.`;
  return `The chosen routing does not keep up on ${gpus}, or its replicas do not fit the nodes: add GPUs or lower the rate.`;
}
