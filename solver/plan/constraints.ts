import { z } from "zod";
import { machineName } from "@/solver/wording/names";
import type { RunningReplica } from "./clusterSpec";
import { constraintLimits } from "./constraintLimits";

const model = machineName;
const node = machineName;
const replicas = z.int().positive().max(constraintLimits.replicas);
const parallel = z.int().positive().max(constraintLimits.parallel);

/** Operators' constraints on a deployment in addition to low latency. Everything is optional; the empty document has no constraints. */
export const planConstraintsSchema = z.strictObject({
  /** These models have at least so many replicas. */
  pinned: z.array(z.strictObject({ model, replicas: replicas.default(1) })).default([]),
  /** All replicas of these models have exactly this shape. */
  shapes: z.array(z.strictObject({ model, tp: parallel, pp: parallel.default(1) })).default([]),
  /** These models get no replica. */
  excluded: z.array(model).default([]),
  /** These models run on the nodes named under `only`, where given, and never on those under `never`. */
  nodes: z.array(z.strictObject({ model, only: z.array(node).min(1).optional(), never: z.array(node).default([]) })).default([]),
  /** Every model of the plan has at least so many replicas. */
  minReplicasPerModel: replicas.nullable().default(null),
  /** Whichever single node is lost, the remaining replicas serve every stage's whole load, within the latency budget where there is one. */
  surviveNodeLoss: z.boolean().default(false),
  maxUsdPerHour: z.number().nonnegative().max(constraintLimits.usdPerHour).nullable().default(null),
  maxGpus: z.int().positive().max(constraintLimits.gpus).nullable().default(null),
  /** Replicas started and replicas stopped, together, relative to the running ones; one moved or reshaped counts as both. */
  maxChangedReplicas: z.int().nonnegative().max(constraintLimits.replicas).nullable().default(null),
  /** Whether GPUs may be left idle; else every GPU of the cluster is used. */
  idleGpus: z.boolean().default(true),
});

export type PlanConstraints = z.infer<typeof planConstraintsSchema>;

/** The document without constraints. */
export const noConstraints: PlanConstraints = planConstraintsSchema.parse({});

/** Whether a document has any constraints. */
export const asksForAnything = (constraints: PlanConstraints): boolean => JSON.stringify(constraints) !== JSON.stringify(noConstraints);

/** One constraint, in operators' words, and the document without it. */
export interface NamedConstraint {
  readonly kind: keyof PlanConstraints;
  readonly says: string;
  /** Its model; null for constraints on the whole cluster. */
  readonly model: string | null;
  without(constraints: PlanConstraints): PlanConstraints;
}

/** Every constraint of a document by name, in the order of the schema. */
export function constraintsOf(constraints: PlanConstraints): readonly NamedConstraint[] {
  const { pinned, shapes, excluded, nodes } = constraints;
  const { minReplicasPerModel, surviveNodeLoss, maxUsdPerHour, maxGpus, maxChangedReplicas, idleGpus } = constraints;
  const of = (
    kind: keyof PlanConstraints,
    subject: string | null,
    says: string,
    less: (c: PlanConstraints) => Partial<PlanConstraints>,
  ) => ({
    kind,
    says,
    model: subject,
    without: (from: PlanConstraints) => ({ ...from, ...less(from) }),
  });
  const entries = [
    ...pinned.map((entry) =>
      of("pinned", entry.model, `at least ${entry.replicas} of ${entry.model}`, (c) => ({
        pinned: c.pinned.filter((other) => other !== entry),
      })),
    ),
    ...shapes.map((entry) =>
      of("shapes", entry.model, `${entry.model} only as tp ${entry.tp}${entry.pp > 1 ? ` pp ${entry.pp}` : ""}`, (c) => ({
        shapes: c.shapes.filter((other) => other !== entry),
      })),
    ),
    ...excluded.map((entry) =>
      of("excluded", entry, `no replica of ${entry}`, (c) => ({ excluded: c.excluded.filter((other) => other !== entry) })),
    ),
    ...nodes.map((entry) => of("nodes", entry.model, nodeRuleSays(entry), (c) => ({ nodes: c.nodes.filter((other) => other !== entry) }))),
  ];
  const whole: NamedConstraint[] = [];
  if (minReplicasPerModel !== null)
    whole.push(
      of("minReplicasPerModel", null, `at least ${minReplicasPerModel} replicas of every model`, () => ({ minReplicasPerModel: null })),
    );
  if (surviveNodeLoss) whole.push(of("surviveNodeLoss", null, "survive the loss of any one node", () => ({ surviveNodeLoss: false })));
  if (maxUsdPerHour !== null) whole.push(of("maxUsdPerHour", null, `at most ${maxUsdPerHour} USD/hour`, () => ({ maxUsdPerHour: null })));
  if (maxGpus !== null) whole.push(of("maxGpus", null, `at most ${maxGpus} GPU${maxGpus === 1 ? "" : "s"}`, () => ({ maxGpus: null })));
  if (maxChangedReplicas !== null)
    whole.push(
      of(
        "maxChangedReplicas",
        null,
        `at most ${maxChangedReplicas} replica${maxChangedReplicas === 1 ? "" : "s"} started or stopped`,
        () => ({ maxChangedReplicas: null }),
      ),
    );
  if (!idleGpus) whole.push(of("idleGpus", null, "no idle GPU", () => ({ idleGpus: true })));
  return [...entries, ...whole];
}

function nodeRuleSays({ model: subject, only, never }: PlanConstraints["nodes"][number]): string {
  const parts = [
    ...(only === undefined ? [] : [`only on ${only.join(", ")}`]),
    ...(never.length === 0 ? [] : [`never on ${never.join(", ")}`]),
  ];
  return `${subject} ${parts.length === 0 ? "on any node" : parts.join(" and ")}`;
}

/** Whether the document lets a plan use a running replica: its model is not excluded, and shape and nodes are as required. */
export function allowsReplica(constraints: PlanConstraints, { model: subject, shape, placements }: RunningReplica): boolean {
  const { excluded, shapes } = constraints;
  return (
    !excluded.includes(subject) &&
    shapes.every((wanted) => wanted.model !== subject || (wanted.tp === shape.tp && wanted.pp === shape.pp)) &&
    placements.every(({ node: name }) => mayRunOn(constraints, subject, name))
  );
}

/** Whether the document lets a model run on a node. */
export function mayRunOn({ nodes }: PlanConstraints, subject: string, name: string): boolean {
  return nodes.every((rule) => rule.model !== subject || ((rule.only?.includes(name) ?? true) && !rule.never.includes(name)));
}
