import type { Command } from "commander";
import { createPlanner } from "@/server/planning/planner/planner";
import { choose } from "@/solver/cascade/choose/choose";
import type { Exploration } from "@/solver/cascade/explore/exploration";
import { decodeExploration } from "@/solver/cascade/explore/explorationWire";
import { paretoFront } from "@/solver/cascade/explore/paretoFront";
import { DEFAULT_QUALITY_CONFIDENCE } from "@/solver/cascade/explore/situation";
import type { DispatchExploration } from "@/solver/dispatch/dispatchExploration";
import type { PlanConstraints } from "@/solver/plan/constraints";
import { textTable } from "../describe/textTable";
import { EXIT, type ExitCode, refuse } from "../flags/exitCodes";
import { type PlanningFlags, readPlanning, withPlanningFlags } from "../flags/planningFlags";
import { type PolicyFlags, readPolicy, withPolicyFlags } from "../flags/policyFlags";

type FrontierFlags = PlanningFlags & PolicyFlags & { readonly json?: boolean };

/** `weir frontier`: the Pareto set of latency and quality, each point a whole plan with its GPUs. */
export function addFrontierCommand(program: Command, onExit: (code: ExitCode) => void): void {
  withPolicyFlags(withPlanningFlags(program.command("frontier")))
    .description("print the latency-quality frontier of a workload on a cluster, by the planner's tables and simulations")
    .option("--json", "print the points as JSON")
    .action(async (flags: FrontierFlags) => onExit(await frontier(flags)));
}

async function frontier(flags: FrontierFlags): Promise<ExitCode> {
  const planning = await readPlanning(flags);
  const { policy, situation } = await readPolicy(flags, planning);
  if (policy === "cascade-routing")
    return refuse(
      "A frontier has no points of cascade routing, which is fitted for one objective: use weir plan --policy cascade-routing.",
    );
  const { constraints } = situation;
  const left = constraints === undefined ? [] : unknownToTables.filter(({ asked }) => asked(constraints)).map(({ says }) => says);
  if (left.length > 0) process.stderr.write(`Estimates by tables, which do not know: ${left.join(", ")}. \`weir plan\` holds them.\n`);
  const planner = createPlanner();
  try {
    const found: Point[] = [];
    if (policy !== "slack") {
      const answer = await planner.explore(planning);
      if (!answer.ok) return refuse(answer.message, EXIT.infeasible);
      found.push(
        ...cascadePoints(decodeExploration(answer.exploration), constraints).filter(
          (point) => policy !== "one-model" || point.stages.length === 1,
        ),
      );
    }
    if (policy === "slack" || policy === "any") {
      const answer = await planner.dispatch(situation);
      if (answer.ok) found.push(...slackPoints(answer.dispatch, constraints));
      else if (policy === "slack") return refuse(answer.message, EXIT.infeasible);
      else process.stderr.write(`${answer.message}\n`);
    }
    const points = paretoFront(
      found.map(({ qualityLow, p95Seconds, costUsdPerRequest, gpus }) => ({
        quality: qualityLow,
        latency: p95Seconds,
        cost: costUsdPerRequest,
        gpus: gpus.reduce((sum, own) => sum + own, 0),
      })),
      ["quality", "latency"],
    ).flatMap((index) => found[index] ?? []);
    process.stdout.write(flags.json === true ? `${JSON.stringify(points, null, 2)}\n` : describe(points));
    return EXIT.done;
  } finally {
    await planner.close();
  }
}

function cascadePoints(exploration: Exploration, constraints: PlanConstraints | undefined): readonly Point[] {
  const { candidates } = choose(exploration, {
    kind: "quality-under-latency",
    latency: "end-to-end",
    qualityFloor: null,
    qualityConfidence: DEFAULT_QUALITY_CONFIDENCE,
    latencyBudgetSeconds: null,
    maxGpus: Math.min(exploration.maxGpus, constraints?.maxGpus ?? exploration.maxGpus),
  });
  return candidates.flatMap(({ routing: index, quality, qualityLow, latencySeconds, costUsdPerRequest, gpus }) => {
    const routing = exploration.routings[index];
    if (routing === undefined || latencySeconds === Number.POSITIVE_INFINITY) return [];
    const stages = routing.stages.map((model) => exploration.models[model] ?? "");
    return [
      {
        ...{ policy: stages.length === 1 ? ("one-model" as const) : ("cascade" as const), stages, thresholds: routing.thresholds },
        ...{ gpus, quality, qualityLow, p95Seconds: latencySeconds, costUsdPerRequest },
      },
    ];
  });
}

function slackPoints({ models, allocations, points }: DispatchExploration, constraints: PlanConstraints | undefined): readonly Point[] {
  const most = constraints?.maxGpus ?? Number.POSITIVE_INFINITY;
  return points.flatMap(({ allocation, tau, quality, qualityLow, latencySeconds, costUsdPerRequest, gpusTotal }) => {
    const own = allocations[allocation];
    if (own === undefined || gpusTotal > most) return [];
    const stages = own.models.map((model) => models[model] ?? "");
    return [
      {
        policy: "slack" as const,
        stages,
        thresholds: [],
        tau,
        gpus: own.gpus,
        quality,
        qualityLow,
        p95Seconds: latencySeconds,
        costUsdPerRequest,
      },
    ];
  });
}

/** Constraints that need nodes or replicas by name, which latency tables by GPU count do not have. */
const unknownToTables: readonly { readonly says: string; asked(constraints: PlanConstraints): boolean }[] = [
  { says: "nodes by model", asked: ({ nodes }) => nodes.length > 0 },
  { says: "the loss of a node", asked: ({ surviveNodeLoss }) => surviveNodeLoss },
  { says: "least replicas", asked: ({ minReplicasPerModel }) => minReplicasPerModel !== null },
  { says: "pinned models", asked: ({ pinned }) => pinned.length > 0 },
  { says: "changes against what runs", asked: ({ maxChangedReplicas }) => maxChangedReplicas !== null },
  { says: "idle GPUs", asked: ({ idleGpus }) => !idleGpus },
];

interface Point {
  readonly policy: "cascade" | "one-model" | "slack";
  /** Models in the order of the stages, or between which requests are dispatched. */
  readonly stages: readonly string[];
  readonly thresholds: readonly number[];
  /** Of slack dispatch. */
  readonly tau?: number;
  readonly gpus: readonly number[];
  readonly quality: number;
  readonly qualityLow: number;
  readonly p95Seconds: number;
  readonly costUsdPerRequest: number;
}

const routingText = ({ stages, thresholds, tau }: Point): string =>
  tau === undefined
    ? stages.map((model, stage) => (stage < thresholds.length ? `${model} <${thresholds[stage]}> ` : model)).join("")
    : `${stages.join(" or ")}, tau ${tau}`;

const describe = (points: readonly Point[]): string =>
  textTable([
    ["policy", "GPUs", "quality", "lower bound", "p95"],
    ...points.map((point) => [
      routingText(point),
      point.gpus.join(" + "),
      point.quality.toFixed(1),
      point.qualityLow.toFixed(1),
      `${point.p95Seconds.toPrecision(3)} s`,
    ]),
  ]);
