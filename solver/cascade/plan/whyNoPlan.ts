import { gpuCount } from "@/solver/plan/clusterGpus";
import { asksForAnything, constraintsOf, noConstraints } from "@/solver/plan/constraints";
import type { NoPlanKind } from "@/solver/plan/plan";
import { counted, exactSecondsText, secondsText } from "@/solver/wording/wording";
import { candidatesFor } from "../choose/choose";
import { unservedByHand } from "../choose/unservedSays";
import { addByName } from "../deploy/conflictOracle";
import type { ConstrainedCandidates } from "../deploy/constrainedCandidates";
import type { Constrained } from "../deploy/constrainedDeployment";
import type { ConflictingConstraint } from "../deploy/demands";
import { explainConflict } from "../deploy/explainConflict";
import type { Finalist } from "../deploy/finalist";
import type { Choice } from "../explore/exploration";
import type { CompleteInput, NoPlan } from "./planInput";

/** How a search for a plan ended without one. */
export interface Ended {
  readonly choice: Choice;
  /** The routing set by hand, as an index into the exploration; null where the planner chooses. */
  readonly byHand: number | null;
  /** null where only GPU counts were requested. */
  readonly constrained: ConstrainedCandidates | null;
  readonly verified: readonly Finalist[];
  /** Why the last deployment refused as unstable was unstable; null where none was. */
  readonly unstable: string | null;
}

type Asked = CompleteInput & Constrained;
type Why = Pick<NoPlan, "kind" | "reason">;

/**
 * Why there is no plan: the constraints that conflict, the floor or budget out of reach, or more requests than the GPUs sustain. A
 * cascade set by hand is overloaded only where all GPUs of the cluster, used without constraints, do not sustain its load.
 */
export function whyNoPlan(input: Asked, ended: Ended): NoPlan {
  const { choice, byHand, constrained, unstable } = ended;
  const { explorerUnder } = input;
  // The explanation of a conflict may run the explorer's search again, which forgets the routing.
  const overloaded = byHand === null ? null : overloadedByHand(input, byHand);
  if (overloaded !== null) return without(overloaded);
  const deployed = constrained !== null && constrained.candidates.length + constrained.misses.length > 0;
  const conflict = explorerUnder === undefined || deployed ? null : explainConflict({ ...input, explorerUnder });
  if (conflict !== null) {
    const nearest = (kind: ConflictingConstraint["kind"]) => conflict.constraints.find((one) => one.kind === kind)?.nearest ?? null;
    return {
      outcome: "infeasible",
      kind: "constraints",
      reason: conflict.says,
      bestQuality: nearest("qualityFloor"),
      bestLatencySeconds: nearest("latencyBudgetSeconds"),
      conflict: conflict.constraints,
    };
  }
  if (choice.infeasible !== null) return { outcome: "infeasible", ...choice.infeasible };
  return without(unstable === null ? noneVerified(input, ended) : { kind: "overloaded", reason: unstable });
}

const without = (why: Why): NoPlan => ({ outcome: "infeasible", ...why, bestQuality: null, bestLatencySeconds: null });

/** The explorer applies requested shapes and excluded models: so another explorer, without constraints, is used. */
function overloadedByHand({ explorer, explorerUnder, fixed, cluster, objective }: Asked, routing: number): Why | null {
  const maxGpus = gpuCount(cluster);
  const free = explorerUnder?.(noConstraints) ?? explorer;
  if (free !== explorer) free.search();
  const own = free === explorer || fixed === null ? routing : addByName(free, explorer.input.sample.models, fixed);
  const candidate = candidatesFor(free.exploration(), { ...objective, kind: "latency-under-quality", maxGpus })[own];
  if (candidate === undefined || candidate.latencySeconds < Number.POSITIVE_INFINITY) return null;
  return unservedByHand(own, free.exploration(), { maxGpus });
}

function noneVerified({ objective, fixed, constraints }: Asked, { verified }: Ended): Why {
  const budget = objective.latencyBudgetSeconds;
  const isAsked = asksForAnything(constraints);
  if (fixed === null && budget !== null) {
    const least = Math.min(...verified.map(({ heldSeconds }) => heldSeconds));
    const lowest = verified.length === 0 ? "" : ` (the lowest was ${secondsText(least)})`;
    return {
      kind: "latency-budget" satisfies NoPlanKind,
      reason: `${isAsked ? "Under the constraints no" : "No"} plan kept the latency budget of ${exactSecondsText(budget)} when it was simulated whole${lowest}, though the tables promised it: allow a little more.`,
    };
  }
  if (isAsked) {
    const asked = constraintsOf(constraints).map(({ says }) => says);
    return { kind: "constraints", reason: `No deployment was found that keeps these constraints: ${asked.join("; ")}.` };
  }
  return {
    kind: "no-room",
    reason: `No placement of the cascade on ${counted(objective.maxGpus, "GPU")} was found: its replicas do not fit the nodes, or are overloaded as they fit. Add GPUs or lower the rate.`,
  };
}
