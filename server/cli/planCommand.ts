import type { Command } from "commander";
import { createPlanner } from "@/server/planning/planner";
import { DEFAULT_PERCENTILE, DEFAULT_QUALITY_CONFIDENCE } from "@/server/planning/planningRequest";
import type { Objective } from "@/solver/plan/plan";
import { describePlan } from "./describePlan";
import { EXIT, type ExitCode, refuse } from "./exitCodes";
import { numberFlag } from "./flagValues";
import { readSituation, type SituationFlags, withSituationFlags } from "./situationFlags";

interface PlanFlags extends SituationFlags {
  readonly quality?: number;
  readonly latency?: number;
  readonly largestStage?: boolean;
  readonly pointEstimate?: boolean;
  readonly json?: boolean;
}

/** `weir plan`: the best cascade for a floor on quality or a budget of latency. */
export function addPlanCommand(program: Command, onExit: (code: ExitCode) => void): void {
  withSituationFlags(program.command("plan"))
    .description("plan a cascade: models, GPUs, parallelism and thresholds from one optimisation")
    .option("--quality <score>", "least p95 whose quality is at least this, 0..100", numberFlag({ min: 0, max: 100 }))
    .option("--latency <seconds>", "p95 budget; without --quality the highest quality within it", numberFlag({ min: 0.001, max: 86_400 }))
    .option("--largest-stage", "minimise the largest stage p95, as the source does, not the end-to-end p95")
    .option("--point-estimate", "hold the floor for the sample's mean quality, not for its lower 90 % bound")
    .option("--json", "print the plan document")
    .action(async (flags: PlanFlags) => onExit(await plan(flags)));
}

async function plan(flags: PlanFlags): Promise<ExitCode> {
  if (flags.quality === undefined && flags.latency === undefined)
    return refuse("Give --quality, --latency or both: there is nothing to plan for.");
  const read = await readSituation(flags);
  if (!read.ok) return refuse(read.message);
  const planner = createPlanner();
  try {
    const answer = await planner.solve({ ...read.situation, objective: objectiveOf(flags), fixed: null });
    if (answer.outcome === "infeasible") return refuse(answer.reason, EXIT.infeasible);
    process.stdout.write(flags.json === true ? `${JSON.stringify(answer.plan, null, 2)}\n` : describePlan(answer.plan));
    return EXIT.done;
  } finally {
    await planner.close();
  }
}

function objectiveOf(flags: PlanFlags): Objective {
  return {
    kind: flags.quality === undefined ? "quality-under-latency" : "latency-under-quality",
    latency: flags.largestStage === true ? "largest-stage" : "end-to-end",
    percentile: DEFAULT_PERCENTILE,
    qualityFloor: flags.quality ?? null,
    qualityConfidence: flags.pointEstimate === true ? null : DEFAULT_QUALITY_CONFIDENCE,
    latencyBudgetSeconds: flags.latency ?? null,
    maxGpus: flags.nodes * flags.gpusPerNode,
  };
}
