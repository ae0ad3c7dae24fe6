import { formatCounted, formatScore, formatSeconds, formatUsd } from "@/components/ui/format";
import type { SolveAnswer } from "@/server/contracts/studio";
import type { ConflictingConstraint } from "@/solver/cascade/deploy/demands";
import type { Knobs } from "@/solver/cascade/explore/exploration";
import type { PlanConstraints } from "@/solver/plan/constraints";
import type { PlanView } from "../address/planCodec";

/** One click that relaxes a constraint: its text, and the change to the view. */
export interface Relaxation {
  readonly says: string;
  readonly change: Partial<PlanView>;
}

/** The relaxations of one conflicting constraint: its nearest feasible value, if there is one, and dropping it. */
export function relaxations(view: PlanView, { kind, model, nearest }: ConflictingConstraint): readonly Relaxation[] {
  const { constraints } = view;
  const to = (says: string, change: Partial<PlanConstraints>): Relaxation => ({
    says,
    change: { constraints: { ...constraints, ...change } },
  });
  const own = <Entry extends { readonly model: string }>(entries: readonly Entry[]): Entry[] =>
    entries.filter((entry) => entry.model !== model);
  switch (kind) {
    case "pinned": {
      const gone = to("Drop it", { pinned: own(constraints.pinned) });
      if (nearest === null || nearest < 1 || model === null) return [gone];
      return [to(`Ask for ${nearest}`, { pinned: [...own(constraints.pinned), { model, replicas: nearest }] }), gone];
    }
    case "shapes":
      return [to("Let the planner choose its shape", { shapes: own(constraints.shapes) })];
    case "excluded":
      return [to(`Allow ${model}`, { excluded: constraints.excluded.filter((each) => each !== model) })];
    case "nodes":
      return [to("Allow every node", { nodes: own(constraints.nodes) })];
    case "minReplicasPerModel": {
      const gone = to("Drop it", { minReplicasPerModel: null });
      return nearest === null || nearest < 1 ? [gone] : [to(`Ask for ${nearest}`, { minReplicasPerModel: nearest }), gone];
    }
    case "surviveNodeLoss":
      return [to("Drop it", { surviveNodeLoss: false })];
    case "maxUsdPerHour": {
      const gone = to("Lift the cap", { maxUsdPerHour: null });
      if (nearest === null) return [gone];
      // Rounded up to whole cents: a cap below the need would not be feasible.
      const maxUsdPerHour = Math.ceil(nearest * 100 - 1e-6) / 100;
      return [to(`Allow ${formatUsd(maxUsdPerHour)} an hour`, { maxUsdPerHour }), gone];
    }
    case "maxGpus":
      return gpuRelaxations(view, nearest);
    case "maxChangedReplicas": {
      const gone = to("Lift the limit", { maxChangedReplicas: null });
      return nearest === null ? [gone] : [to(`Allow ${nearest}`, { maxChangedReplicas: nearest }), gone];
    }
    case "idleGpus":
      return [to("Allow idle GPUs", { idleGpus: true })];
    case "qualityFloor":
    case "latencyBudgetSeconds":
      // Offered next to the conflict, by `objectiveRelaxations`.
      return [];
  }
}

/** A cap on GPUs comes from the constraints, from the knob, or from both. */
function gpuRelaxations({ constraints, gpus }: PlanView, nearest: number | null): readonly Relaxation[] {
  const upTo = (limit: number | null): Partial<PlanView> => ({
    gpus: gpus === null || limit === null ? null : Math.max(gpus, limit),
    constraints: { ...constraints, maxGpus: constraints.maxGpus === null ? null : limit },
  });
  const gone: Relaxation = { says: "Allow all GPUs", change: upTo(null) };
  return nearest === null ? [gone] : [{ says: `Allow ${formatCounted(nearest, "GPU")}`, change: upTo(nearest) }, gone];
}

type Infeasible = Extract<SolveAnswer, { outcome: "infeasible" }>;

/** Floor and budget at the limit of the cluster, where the answer states it. */
export function objectiveRelaxations(knobs: Knobs, answer: Pick<Infeasible, "bestQuality" | "bestLatencySeconds">): readonly Relaxation[] {
  const { bestQuality, bestLatencySeconds } = answer;
  const qualityFloor = bestQuality === null ? null : Math.floor(bestQuality * 10) / 10;
  const latencyBudgetSeconds = bestLatencySeconds === null ? null : Math.ceil(bestLatencySeconds * 10) / 10;
  return [
    ...(qualityFloor !== null && qualityFloor < (knobs.qualityFloor ?? 0)
      ? [{ says: `Lower the floor to ${formatScore(qualityFloor)}`, change: { qualityFloor } }]
      : []),
    ...(latencyBudgetSeconds !== null && knobs.latencyBudgetSeconds !== null && latencyBudgetSeconds > knobs.latencyBudgetSeconds
      ? [{ says: `Raise the budget to ${formatSeconds(latencyBudgetSeconds)}`, change: { latencyBudgetSeconds } }]
      : []),
  ];
}
