import { type Command, InvalidArgumentError } from "commander";
import type { z } from "zod";
import type { RunningReplica } from "@/solver/plan/clusterSpec";
import { type PlanConstraints, planConstraintsSchema } from "@/solver/plan/constraints";
import { planSchema } from "@/solver/plan/plan";
import { runningReplicas } from "@/solver/plan/runningReplicas";
import { must, refuse } from "./exitCodes";
import { listFlag, numberFlag } from "./flagValues";
import { readYamlFile } from "./yamlFile";

type Asked = z.input<typeof planConstraintsSchema>;

export interface ConstraintFlags {
  readonly constraints?: string;
  readonly exclude?: NonNullable<Asked["excluded"]>;
  readonly pin?: NonNullable<Asked["pinned"]>;
  readonly shape?: NonNullable<Asked["shapes"]>;
  readonly onlyNodes?: NonNullable<Asked["nodes"]>;
  readonly neverNodes?: NonNullable<Asked["nodes"]>;
  readonly minReplicas?: number;
  readonly surviveNodeLoss?: boolean;
  readonly maxUsdPerHour?: number;
  readonly maxGpus?: number;
  readonly maxChanges?: number;
  readonly running?: string;
  readonly idleGpus: boolean;
}

/** What constraints may refer to. */
export interface Subjects {
  readonly models: readonly string[];
  readonly nodes: readonly string[];
}

interface AskedConstraints {
  readonly constraints?: PlanConstraints;
  readonly running?: readonly RunningReplica[];
}

const HELP = `
A constraints file has the fields pinned, shapes, excluded, nodes, minReplicasPerModel, surviveNodeLoss, maxUsdPerHour, maxGpus,
maxChangedReplicas and idleGpus: {excluded: [gemma-2-2b], pinned: [{model: gemma-2-9b, replicas: 2}], maxUsdPerHour: 40}`;

/** Adds the flags for constraints on the deployment; those about a model may be repeated. */
export const withConstraintFlags = (command: Command): Command =>
  command
    .option("--constraints <file>", "YAML of constraints, to which the flags below add")
    .option("--exclude <model>", "no replica of this model", (text, before: readonly string[] = []) => [...before, text])
    .option("--pin <model[:replicas]>", "at least so many replicas of a model (default: 1)", collect(pinOf))
    .option("--shape <model:tpN[ppM]>", "replicas of a model have exactly this shape", collect(shapeOf))
    .option(
      "--only-nodes <model:node,node>",
      "a model runs on these nodes only",
      collect((text) => rule(text, (model, only) => ({ model, only }))),
    )
    .option(
      "--never-nodes <model:node,node>",
      "a model runs on none of these nodes",
      collect((text) => rule(text, (model, never) => ({ model, never }))),
    )
    .option("--min-replicas <n>", "at least so many replicas of every model of the plan", numberFlag({ min: 1, max: 1024, whole: true }))
    .option("--survive-node-loss", "whichever one node is lost, the others serve the whole load within the plan's latency")
    .option("--max-usd-per-hour <usd>", "cost cap", numberFlag({ min: 0, max: 1e6 }))
    .option("--max-gpus <n>", "GPUs to use at most", numberFlag({ min: 1, max: 16_384, whole: true }))
    .option("--max-changes <n>", "replicas started and stopped against --running at most", numberFlag({ min: 0, max: 16_384, whole: true }))
    .option("--running <plan>", "plan document in force: among equals the plan that changes least is taken")
    .option("--no-idle-gpus", "use every GPU of the cluster")
    .addHelpText("after", HELP);

/**
 * The constraints of file and flags together, undefined if there are none.
 * @throws Refusal
 */
export function readConstraints(flags: ConstraintFlags, subjects: Subjects): AskedConstraints {
  const schema = naming(subjects);
  const file = flags.constraints === undefined ? null : must(readYamlFile("--constraints", flags.constraints, schema));
  const asked = schema.safeParse(askedBy(flags));
  if (!asked.success) {
    const [issue] = asked.error.issues;
    return refuse(`${flagOf(flags, issue?.path ?? [])}: ${issue?.message}.`);
  }
  const running = flags.running === undefined ? null : must(readYamlFile("--running", flags.running, planSchema));
  const constraints = joined(file?.value ?? planConstraintsSchema.parse({}), asked.data);
  if (constraints.maxChangedReplicas !== null && running === null)
    refuse("--max-changes counts changes against what runs: name its plan with --running.");
  const nothing = file === null && Object.keys(askedBy(flags)).length === 0;
  return {
    ...(nothing ? {} : { constraints }),
    ...(running === null ? {} : { running: runningReplicas(running.value) }),
  };
}

/** The flags as a constraints document. */
function askedBy({ exclude, pin, shape, onlyNodes = [], neverNodes = [], ...flags }: ConstraintFlags): Asked {
  const nodes = [...onlyNodes, ...neverNodes];
  return {
    ...(exclude === undefined ? {} : { excluded: exclude }),
    ...(pin === undefined ? {} : { pinned: pin }),
    ...(shape === undefined ? {} : { shapes: shape }),
    ...(nodes.length === 0 ? {} : { nodes }),
    ...(flags.minReplicas === undefined ? {} : { minReplicasPerModel: flags.minReplicas }),
    ...(flags.surviveNodeLoss === true ? { surviveNodeLoss: true } : {}),
    ...(flags.maxUsdPerHour === undefined ? {} : { maxUsdPerHour: flags.maxUsdPerHour }),
    ...(flags.maxGpus === undefined ? {} : { maxGpus: flags.maxGpus }),
    ...(flags.maxChanges === undefined ? {} : { maxChangedReplicas: flags.maxChanges }),
    ...(flags.idleGpus ? {} : { idleGpus: false }),
  };
}

/** The schema, and the check that models and nodes exist. */
const naming = ({ models, nodes }: Subjects) =>
  planConstraintsSchema.superRefine((asked, context) => {
    const check = (path: (string | number)[], called: string, known: readonly string[], what: string): void => {
      if (!known.includes(called))
        context.addIssue({ code: "custom", path, message: `there is no ${what} "${called}"; known: ${known.join(", ")}` });
    };
    asked.excluded.forEach((model, at) => {
      check(["excluded", at], model, models, "model");
    });
    for (const list of ["pinned", "shapes", "nodes"] as const)
      asked[list].forEach(({ model }, at) => {
        check([list, at, "model"], model, models, "model");
      });
    asked.nodes.forEach(({ only = [], never }, at) => {
      for (const [list, names] of Object.entries({ only, never }))
        names.forEach((node, index) => {
          check(["nodes", at, list, index], node, nodes, "node");
        });
    });
  });

const scalars = {
  minReplicasPerModel: "--min-replicas",
  maxUsdPerHour: "--max-usd-per-hour",
  maxGpus: "--max-gpus",
  maxChangedReplicas: "--max-changes",
} as const;

/**
 * Both together.
 * @throws Refusal if they contradict each other.
 */
function joined(file: PlanConstraints, flags: PlanConstraints): PlanConstraints {
  for (const [field, flag] of Object.entries(scalars) as [keyof typeof scalars, string][]) {
    if (file[field] !== null && flags[field] !== null && file[field] !== flags[field])
      refuse(`${flag} ${flags[field]} contradicts ${field} ${file[field]} of the constraints file: give one.`);
  }
  const pinned = [...file.pinned, ...flags.pinned];
  const shapes = [...file.shapes, ...flags.shapes];
  const excluded = [...new Set([...file.excluded, ...flags.excluded])];
  const torn = pinned.find(({ model }) => excluded.includes(model));
  if (torn !== undefined) refuse(`${torn.model} is both pinned and excluded: leave out one.`);
  const other = shapes.find(({ model, tp, pp }) => shapes.some((one) => one.model === model && (one.tp !== tp || one.pp !== pp)));
  if (other !== undefined) refuse(`${other.model} has two shapes among the constraints: give one.`);
  return {
    pinned,
    shapes,
    excluded,
    nodes: [...file.nodes, ...flags.nodes],
    minReplicasPerModel: flags.minReplicasPerModel ?? file.minReplicasPerModel,
    surviveNodeLoss: file.surviveNodeLoss || flags.surviveNodeLoss,
    maxUsdPerHour: flags.maxUsdPerHour ?? file.maxUsdPerHour,
    maxGpus: flags.maxGpus ?? file.maxGpus,
    maxChangedReplicas: flags.maxChangedReplicas ?? file.maxChangedReplicas,
    idleGpus: file.idleGpus && flags.idleGpus,
  };
}

/** Flag that a part of the flags' document came from. */
function flagOf({ onlyNodes = [] }: ConstraintFlags, path: readonly PropertyKey[]): string {
  const [list, at] = path;
  if (list === "nodes") return Number(at) < onlyNodes.length ? "--only-nodes" : "--never-nodes";
  return { excluded: "--exclude", pinned: "--pin", shapes: "--shape", ...scalars }[String(list)] ?? "Constraints";
}

function collect<Entry>(read: (text: string) => Entry): (text: string, before?: readonly Entry[]) => readonly Entry[] {
  return (text, before = []) => [...before, read(text)];
}

/** `model:rest`, split at the last colon; null if there is none. */
function cut(text: string): readonly [model: string, rest: string] | null {
  const at = text.lastIndexOf(":");
  return at < 1 || at === text.length - 1 ? null : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

function pinOf(text: string) {
  if (!text.includes(":")) return { model: text.trim() };
  const parts = cut(text);
  if (parts === null || !/^[1-9]\d{0,3}$/.test(parts[1]))
    throw new InvalidArgumentError("Write model or model:replicas, such as gemma-2-9b:2.");
  return { model: parts[0], replicas: Number(parts[1]) };
}

function shapeOf(text: string) {
  const [model = "", shape = ""] = cut(text) ?? [];
  const [, tp, pp] = /^tp([1-9]\d?)(?:pp([1-9]\d?))?$/.exec(shape) ?? [];
  if (tp === undefined) throw new InvalidArgumentError("Write model:tpN or model:tpNppM, such as llama-3.1-70b:tp4pp2.");
  return { model, tp: Number(tp), pp: Number(pp ?? 1) };
}

function rule<Rule>(text: string, of: (model: string, nodes: string[]) => Rule): Rule {
  const [model = "", list = ""] = cut(text) ?? [];
  const nodes = listFlag(list);
  if (nodes.length === 0) throw new InvalidArgumentError("Write model:node or model:node,node, such as gemma-2-9b:node1,node2.");
  return of(model, nodes);
}
