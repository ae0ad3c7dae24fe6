import type { Inputs } from "@/components/api/trpc";
import { formatCounted, formatSeconds, formatUsd } from "@/components/ui/format";
import type { ReplicaRule } from "@/solver/baselines/betterBaseline";
import type { Knobs } from "@/solver/cascade/explore/exploration";
import { gpuCount, gpuPrices, gpuTypes } from "@/solver/plan/clusterGpus";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import type { PlanConstraints } from "@/solver/plan/constraints";
import { type ConstraintsView, formatConstraints, hashOfRouter, type PlannedRouter } from "../address/constraintsCodec";
import { ruleOf, withRule } from "./modelRules";

type Constraints = NonNullable<Inputs["plans"]["explore"]["constraints"]>;

/** One constraint in words, and the view without it. */
export interface ActiveConstraint {
  readonly key: string;
  readonly says: string;
  /** Whether the tables in the browser account for it; otherwise only the exact plan keeps it. */
  readonly inEstimate: boolean;
  readonly without: Partial<ConstraintsView>;
}

/** A shape in words: `tp 4`, `tp 4 pp 2`. */
export const shapeText = ({ tp, pp }: { readonly tp: number; readonly pp: number }): string => (pp > 1 ? `tp ${tp} pp ${pp}` : `tp ${tp}`);

function nodesSay({ only, never }: PlanConstraints["nodes"][number]): string {
  const parts = [
    ...(only === undefined ? [] : [`only on ${only.join(", ")}`]),
    ...(never.length === 0 ? [] : [`never on ${never.join(", ")}`]),
  ];
  return parts.join(" and ") || "on any node";
}

/** All constraints, in the order of the planner's schema. */
export function activeConstraints(view: ConstraintsView): readonly ActiveConstraint[] {
  const { constraints, judge, judgeSeconds, router } = view;
  const { minReplicasPerModel, maxUsdPerHour, maxGpus, maxChangedReplicas } = constraints;
  const of = (says: string, inEstimate: boolean, change: Partial<PlanConstraints>): ActiveConstraint => ({
    key: says,
    says,
    inEstimate,
    without: { constraints: { ...constraints, ...change } },
  });
  const others = <Entry>(entries: readonly Entry[], entry: Entry): Entry[] => entries.filter((each) => each !== entry);
  return [
    ...constraints.pinned.map((pin) => of(`at least ${pin.replicas} of ${pin.model}`, false, { pinned: others(constraints.pinned, pin) })),
    ...constraints.shapes.map((shape) => of(`${shape.model} as ${shapeText(shape)}`, true, { shapes: others(constraints.shapes, shape) })),
    ...constraints.excluded.map((model) => of(`without ${model}`, true, { excluded: others(constraints.excluded, model) })),
    ...constraints.nodes.map((rule) => of(`${rule.model} ${nodesSay(rule)}`, false, { nodes: others(constraints.nodes, rule) })),
    ...(minReplicasPerModel === null
      ? []
      : [of(`at least ${formatCounted(minReplicasPerModel, "replica")} of every model`, false, { minReplicasPerModel: null })]),
    ...(constraints.surviveNodeLoss ? [of("survive the loss of any one node", false, { surviveNodeLoss: false })] : []),
    ...(maxUsdPerHour === null ? [] : [of(`at most ${formatUsd(maxUsdPerHour)} an hour`, true, { maxUsdPerHour: null })]),
    ...(maxGpus === null ? [] : [of(`at most ${formatCounted(maxGpus, "GPU")}`, true, { maxGpus: null })]),
    ...(maxChangedReplicas === null
      ? []
      : [of(`at most ${formatCounted(maxChangedReplicas, "replica")} started or stopped`, false, { maxChangedReplicas: null })]),
    ...(constraints.idleGpus ? [] : [of("no idle GPUs", false, { idleGpus: true })]),
    ...(judge === null
      ? []
      : [{ key: "judge", says: `judged by ${judge.model}, an engine here`, inEstimate: true, without: { judge: null } }]),
    ...(judge !== null || judgeSeconds === null
      ? []
      : [
          {
            key: "judge-seconds",
            says: `a judge call takes ${formatSeconds(judgeSeconds)}, entered`,
            inEstimate: true,
            without: { judgeSeconds: null },
          },
        ]),
    ...(router === null
      ? []
      : [
          {
            key: "router",
            says: `direct start, ${routerSays(router)}`,
            inEstimate: true,
            without: { router: null },
          },
        ]),
  ];
}

function routerSays(router: PlannedRouter): string {
  if (typeof router === "number") return `router AUC ${router}, modelled`;
  const hash = hashOfRouter(router);
  return hash === null ? "trained router" : `trained router ${hash.slice(0, 8)}`;
}

/** The same in the form of the API. */
export function asSituation({
  constraints,
  judge,
  judgeSeconds,
  router,
}: ConstraintsView): Pick<Inputs["plans"]["explore"], "constraints" | "judge" | "directStart"> {
  return {
    ...(formatConstraints(constraints) === "" ? {} : { constraints }),
    ...(judge !== null
      ? { judge: { kind: "engine", ...judge } }
      : judgeSeconds !== null
        ? { judge: { kind: "fixed", secondsPerCall: judgeSeconds } }
        : {}),
    ...(router === null
      ? {}
      : { directStart: typeof router === "number" ? { auc: router } : { predictor: hashOfRouter(router) ?? "newest" } }),
  };
}

/** The constraints that an exploration depends on, including nodes where engines are given; the others do not change its tables. */
export const narrowing = ({ excluded, shapes, nodes }: Constraints): Constraints => ({
  ...(excluded && { excluded }),
  ...(shapes && { shapes }),
  ...(nodes && { nodes }),
});

/** The knobs for the estimate: caps on GPUs and on cost become a limit on GPUs, in the cluster's own mix of types. */
export function estimateKnobs(knobs: Knobs, { maxGpus, maxUsdPerHour }: PlanConstraints, cluster: ClusterSpec): Knobs {
  if (maxGpus === null && maxUsdPerHour === null) return knobs;
  const prices = gpuPrices(cluster);
  const usdPerHour = gpuTypes(cluster).reduce((sum, type) => sum + gpuCount(cluster, type) * (prices[type] ?? 0), 0);
  const paid =
    maxUsdPerHour === null || usdPerHour === 0
      ? Number.POSITIVE_INFINITY
      : Math.floor((maxUsdPerHour * gpuCount(cluster)) / usdPerHour + 1e-9);
  return { ...knobs, maxGpus: Math.max(1, Math.min(knobs.maxGpus, maxGpus ?? Number.POSITIVE_INFINITY, paid)) };
}

/** The constraints with the replicas of some models, each in the place of the model's shape and number. */
export const withReplicas = (constraints: PlanConstraints, rules: readonly ReplicaRule[]): PlanConstraints =>
  rules.reduce(
    (all, { model, shape, count }) => withRule(all, model, { ...ruleOf(all, model), used: true, shape, replicas: count }),
    constraints,
  );
