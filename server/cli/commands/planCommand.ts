import { type Command, Option } from "commander";
import { reroutePlan } from "@/server/api/plans/reroutePlan";
import type { Outcome, SolveAnswer } from "@/server/contracts/studio";
import { type Examination, examinedKinds } from "@/server/contracts/studio/examination";
import { createPlanner, highestPlannedRate } from "@/server/planning/planner/planner";
import { justInTimeRouting } from "@/server/planning/workflows/justInTimeRouting";
import { DEFAULT_PERCENTILE, DEFAULT_QUALITY_CONFIDENCE } from "@/solver/cascade/explore/situation";
import { orderNames, placeNames } from "@/solver/lab/partNames";
import { gpuCount } from "@/solver/plan/clusterGpus";
import type { Objective, Plan } from "@/solver/plan/plan";
import { type GateChoice, gateChoices } from "@/solver/plan/planGates";
import { MOST_TAU } from "@/solver/plan/planSlack";
import type { OrderDocument, PlaceDocument } from "@/solver/plan/policySchema";
import { changeGrace, graceAbove } from "@/solver/policies/changeGrace";
import { changeQueueing, queueingOf } from "@/solver/policies/changeQueueing";
import type { Workload } from "@/solver/workload/workload";
import { describeExamination } from "../describe/describeExamination";
import { describePlan } from "../describe/describePlan";
import { EXIT, type ExitCode, must, refuse } from "../flags/exitCodes";
import { numberFlag } from "../flags/flagValues";
import { type PlanningFlags, readPlanning, withPlanningFlags } from "../flags/planningFlags";
import { type PolicyFlags, readPolicy, withPolicyFlags } from "../flags/policyFlags";
import { readWorkflowFlags, type WorkflowFlags, withWorkflowFlags } from "../flags/workflowFlags";
import { planForMix } from "./planForMix";

/**
 * States why there is no plan, with the conflicting constraints and the nearest alternatives; scripts that requested JSON get the whole
 * answer.
 */
function refuseInfeasible(answer: Extract<SolveAnswer, { outcome: "infeasible" }>, json: boolean): ExitCode {
  if (json) process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
  return refuse(answer.reason, EXIT.infeasible);
}

const MIX_HELP = `
A mix: {singles: {rate: 20, floor: 70}, workflows: [{file: flow.json, rate: 2, floor: 60}, {name: self-refine, rate: 1, floor: 50}]}, with the
predictor of a workflow's accurate configurations, if any, as predictor. With --running the same mix is simulated on what runs.`;

interface PlanFlags extends PlanningFlags, WorkflowFlags, PolicyFlags {
  readonly quality?: number;
  readonly latency?: number;
  readonly cost?: boolean;
  readonly highestRate?: boolean;
  readonly slack?: number;
  readonly tau?: number;
  readonly gate?: GateChoice;
  readonly explain?: boolean;
  readonly largestStage?: boolean;
  readonly pointEstimate?: boolean;
  readonly order?: OrderDocument["kind"];
  readonly place?: PlaceDocument["kind"];
  readonly grace?: number;
  readonly json?: boolean;
}

/** `weir plan`: the best plan for a floor on quality or a budget of latency. */
export function addPlanCommand(program: Command, onExit: (code: ExitCode) => void): void {
  const command = withPolicyFlags(withWorkflowFlags(withPlanningFlags(program.command("plan"))));
  // A mix has rates of its own.
  command.options.find(({ long }) => long === "--rate")?.makeOptionMandatory(false);
  command
    .description("plan a cascade, slack dispatch or one model: models, GPUs, parallelism and thresholds or slack from one optimisation")
    .option("--tau <slack>", "the slack tau of slack dispatch (default: the planner chooses it)", numberFlag({ min: 0, max: MOST_TAU }))
    .addOption(
      new Option(
        "--gate <gate>",
        "what scores a cascade's answers; any: the best of those that the workload's columns allow (default)",
      ).choices(gateChoices),
    )
    .option("--quality <score>", "least p95 whose quality is at least this, 0..100", numberFlag({ min: 0, max: 100 }))
    .option("--latency <seconds>", "p95 budget; without --quality the highest quality within it", numberFlag({ min: 0.001, max: 86_400 }))
    .option("--cost", "the cheapest plan that keeps --quality and --latency, or --quality and --slack")
    .option(
      "--slack <fraction>",
      "how much the p95 may exceed the fastest plan's at --quality, for the highest quality within it; with --cost for the lowest cost",
      numberFlag({ min: 0, max: 1 }),
    )
    .option("--highest-rate", "the highest rate that keeps --quality and --latency, planned anew for each rate; --rate is tried first")
    .option("--largest-stage", "minimise the largest stage p95, as the source does, not the end-to-end p95")
    .option("--point-estimate", "hold the floor for the sample's mean quality, not for its lower 90 % bound")
    .addOption(new Option("--order <order>", "which queued request goes first").choices(Object.keys(orderNames)))
    .addOption(new Option("--place <place>", "to which replica it goes").choices(Object.keys(placeNames)))
    .option(
      "--grace <requests>",
      "let a cascade's thresholds fall inside their approved ranges while more requests than this wait for a later stage (default: they stay)",
      numberFlag({ min: 1, max: 1_000_000, whole: true }),
    )
    .option("--explain", "say what more GPUs and points would bring, sensitivity to changes, and what baselines reach")
    .option(
      "--mix <file>",
      "plan engines for a mix: YAML with rate and floor of singles, and of each workflow by file or name, in place of --rate and --quality",
    )
    .option("--json", "print the plan document; with --explain, with the examination")
    .addHelpText("after", MIX_HELP)
    .action(async ({ mix, ...flags }: PlanFlags & { readonly mix?: string }) =>
      onExit(mix === undefined ? await plan(flags) : await planForMix({ ...flags, mix })),
    );
}

async function plan(flags: PlanFlags): Promise<ExitCode> {
  if ((flags.rate as number | undefined) === undefined) return refuse("Give --rate, or --mix with the rates of a mix.");
  if (flags.quality === undefined && flags.latency === undefined)
    return refuse("Give --quality, --latency or both: there is nothing to plan for.");
  if (flags.slack !== undefined && flags.quality === undefined)
    return refuse("--slack is counted from the fastest plan at a quality: give --quality.");
  if (flags.cost === true && (flags.quality === undefined || (flags.latency === undefined && flags.slack === undefined)))
    return refuse("--cost looks for the cheapest plan under both: give --quality and --latency, or --quality and --slack.");
  if (flags.highestRate === true && (flags.latency === undefined || flags.cost === true || flags.explain === true))
    return refuse("--highest-rate looks for a rate at which a p95 is kept: give --latency, and neither --cost nor --explain.");
  const declared = readWorkflowFlags(flags);
  if (flags.tau !== undefined && flags.policy !== "slack")
    return refuse("--tau is the slack of slack dispatch: give --policy slack with it.");
  const planning = await readPlanning(flags);
  const { policy, situation } = await readPolicy(flags, planning);
  const planner = createPlanner();
  try {
    const objective = objectiveOf(flags, gpuCount(situation.cluster));
    const asked = { ...situation, objective, fixed: null, policy, tau: flags.tau, gateChoice: flags.gate };
    const answer =
      flags.highestRate === true
        ? await highestPlannedRate((requestsPerSecond) => planner.solve({ ...asked, requestsPerSecond }), asked)
        : await planner.solve(asked);
    if (answer.outcome === "infeasible") return refuseInfeasible(answer, flags.json === true);
    const { plan: found } = must(withRouting(answer.plan, flags, { ...declared, workload: situation.workload }));
    const examinations: Examination[] = [];
    const unexplained: string[] = [];
    if (flags.explain === true) {
      for (const examine of examinedKinds) {
        const examined = await planner.examine({ ...asked, examine });
        if (examined.ok) examinations.push(examined.examination);
        else unexplained.push(examined.message);
      }
    }
    const document = flags.explain === true ? { plan: found, examinations, unexplained } : found;
    const described = [
      describePlan(found),
      ...examinations.map((each) => describeExamination(each, found)),
      ...unexplained.map((reason) => `\n${reason}\n`),
    ];
    process.stdout.write(flags.json === true ? `${JSON.stringify(document, null, 2)}\n` : described.join(""));
    return EXIT.done;
  } finally {
    await planner.close();
  }
}

interface Declared {
  readonly asked: Parameters<typeof justInTimeRouting>[2] | null;
  /** The assumptions about the workflow. */
  readonly notes: readonly string[];
  readonly workload: Workload;
}

/** The same engines with the requested workflow, order, placement and grace, if any. */
function withRouting(
  plan: Plan,
  { order, place, grace }: PlanFlags,
  { asked, notes, workload }: Declared,
): Outcome<{ readonly plan: Plan }> {
  const routed = asked === null ? { ok: true as const, policy: plan.policy, notes: [] } : justInTimeRouting(plan, workload, asked);
  if (!routed.ok) return routed;
  const own = queueingOf(routed.policy);
  const queueing = { ...own, order: order ?? own.order, place: place ?? own.place };
  const isOwn = queueing.order === own.order && queueing.place === own.place;
  if (isOwn && asked === null && grace === undefined) return { ok: true, plan };
  const queued = isOwn ? routed : changeQueueing(queueing, routed.policy);
  const made = "refused" in queued || grace === undefined ? queued : changeGrace(graceAbove(grace), queued.policy);
  if ("refused" in made) return { ok: false, message: made.refused };
  return reroutePlan(plan, { policy: made.policy, name: plan.metadata.name }, [...routed.notes, ...notes]);
}

function objectiveOf(flags: PlanFlags, maxGpus: number): Objective {
  const least = flags.cost === true ? "cost-under-both" : "latency-under-quality";
  return {
    kind: flags.quality === undefined ? "quality-under-latency" : least,
    latency: flags.largestStage === true ? "largest-stage" : "end-to-end",
    percentile: DEFAULT_PERCENTILE,
    qualityFloor: flags.quality ?? null,
    qualityConfidence: flags.pointEstimate === true ? null : DEFAULT_QUALITY_CONFIDENCE,
    latencyBudgetSeconds: flags.latency ?? null,
    ...(flags.slack === undefined ? {} : { slack: flags.slack }),
    maxGpus,
  };
}
