import type { Command } from "commander";
import { createPlanner } from "@/server/planning/planner/planner";
import { choose } from "@/solver/cascade/choose/choose";
import { decodeExploration } from "@/solver/cascade/explore/explorationWire";
import { DEFAULT_QUALITY_CONFIDENCE } from "@/solver/cascade/explore/situation";
import type { PlanConstraints } from "@/solver/plan/constraints";
import { textTable } from "../describe/textTable";
import { EXIT, type ExitCode, refuse } from "../flags/exitCodes";
import { type PlanningFlags, readPlanning, withPlanningFlags } from "../flags/planningFlags";

/** `weir frontier`: the Pareto set of latency and quality, each point a whole cascade with its GPUs. */
export function addFrontierCommand(program: Command, onExit: (code: ExitCode) => void): void {
  withPlanningFlags(program.command("frontier"))
    .description("print the latency-quality frontier of a workload on a cluster, by the planner's tables")
    .option("--json", "print the points as JSON")
    .action(async (flags: PlanningFlags & { readonly json?: boolean }) => onExit(await frontier(flags)));
}

async function frontier(flags: PlanningFlags & { readonly json?: boolean }): Promise<ExitCode> {
  const situation = await readPlanning(flags);
  const { constraints } = situation;
  const left = constraints === undefined ? [] : unknownToTables.filter(({ asked }) => asked(constraints)).map(({ says }) => says);
  if (left.length > 0) process.stderr.write(`Estimates by tables, which do not know: ${left.join(", ")}. \`weir plan\` holds them.\n`);
  const planner = createPlanner();
  try {
    const answer = await planner.explore(situation);
    if (!answer.ok) return refuse(answer.message, EXIT.infeasible);
    const exploration = decodeExploration(answer.exploration);
    const choice = choose(exploration, {
      kind: "quality-under-latency",
      latency: "end-to-end",
      qualityFloor: null,
      qualityConfidence: DEFAULT_QUALITY_CONFIDENCE,
      latencyBudgetSeconds: null,
      maxGpus: Math.min(exploration.maxGpus, constraints?.maxGpus ?? exploration.maxGpus),
    });
    const points = choice.frontier.flatMap((index) => {
      const candidate = choice.candidates[index];
      const routing = candidate === undefined ? undefined : exploration.routings[candidate.routing];
      if (candidate === undefined || routing === undefined) return [];
      const { quality, qualityLow, latencySeconds, costUsdPerRequest, gpus } = candidate;
      const stages = routing.stages.map((model) => exploration.models[model] ?? "");
      return [{ stages, thresholds: routing.thresholds, gpus, quality, qualityLow, p95Seconds: latencySeconds, costUsdPerRequest }];
    });
    process.stdout.write(flags.json === true ? `${JSON.stringify(points, null, 2)}\n` : describe(points));
    return EXIT.done;
  } finally {
    await planner.close();
  }
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
  readonly stages: readonly string[];
  readonly thresholds: readonly number[];
  readonly gpus: readonly number[];
  readonly quality: number;
  readonly qualityLow: number;
  readonly p95Seconds: number;
}

const describe = (points: readonly Point[]): string =>
  textTable([
    ["cascade", "GPUs", "quality", "lower bound", "p95"],
    ...points.map(({ stages, thresholds, gpus, quality, qualityLow, p95Seconds }) => [
      stages.map((model, stage) => (stage < thresholds.length ? `${model} <${thresholds[stage]}> ` : model)).join(""),
      gpus.join(" + "),
      quality.toFixed(1),
      qualityLow.toFixed(1),
      `${p95Seconds.toPrecision(3)} s`,
    ]),
  ]);
