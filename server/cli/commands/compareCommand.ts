import { type Command, InvalidArgumentError, Option } from "commander";
import { comparedMeans } from "@/server/planning/compare/comparedMeans";
import { type ComparedRate, compareSystems } from "@/server/planning/compare/compareSystems";
import { loadGlpkEngine } from "@/server/planning/planner/glpkEngine";
import { gpuTypes } from "@/solver/plan/clusterGpus";
import { describeComparison } from "../describe/describeComparison";
import { EXIT, type ExitCode, refuse } from "../flags/exitCodes";
import { listFlag, numberFlag } from "../flags/flagValues";
import { readTrainedStart, type TrainedStartFlags, withTrainedStartFlags } from "../flags/policyFlags";
import { readSituation, type SituationFlags, withSituationFlags } from "../flags/situationFlags";
import { type RaceFlags, raceSystems } from "./raceSystems";

interface CompareFlags extends Omit<SituationFlags, "rate">, RaceFlags, TrainedStartFlags {
  readonly baselines?: boolean;
  readonly quality?: readonly number[];
  readonly rate?: number;
  /** A flag of `weir plan`; refused here. */
  readonly judgeEngine?: string;
  readonly load?: Extract<ComparedRate, { kind: "load" }>;
  readonly sloScale: number;
  readonly requests: number;
  /** A flag of commander's: true unless --no-replan is given. */
  readonly replan: boolean;
  readonly json?: boolean;
}

const HELP = `
With --spec: policies race on programs of several requests, simulated on the prompts held out from planning, as in the studio's lab. The
file (YAML or JSON) says which systems, engines, workflows, rates and seeds; --print-spec writes one for the workload to begin with. The same
description of the same workload gives the same figures on the same cards, profile, texts of prompts and release, of all of which the run's id is made.

With --baselines: all systems plan on one half of the prompts and are measured by simulating them whole on the other half, under the same arrivals:
quality, the smallest SLO scale that 95 % of requests keep, and the highest rate at which 95 % keep --slo-scale, each system planned anew for every
rate and, apart, with its plan kept. The SLO scale is a
deadline over one base for all: the mean over the ladder's models of the latency of a request alone. Exit code 3: no floor can be reached.`;

/**
 * `weir compare`: policies against one another on programs, or with `--baselines` the planner's plan against the baselines of its source,
 * each simulated whole on held-out prompts.
 */
export function addCompareCommand(program: Command, onExit: (code: ExitCode) => void): void {
  const command = withTrainedStartFlags(withSituationFlags(program.command("compare")))
    .description("compare policies on programs of several requests, or a planned cascade with baselines, on held-out prompts")
    .option("--spec <file>", "race the systems of this description, as the studio's lab does")
    .option("--print-spec", "write a description for the workload, to begin with; --gpu says of which engines")
    .option("--prompts <file>", "with --spec: CSV of texts for predictors to learn from, with columns prompt_id and prompt")
    .option(
      "--recorded <folder>",
      "with --spec: programs are recorded runs of agents, of calls.csv and runs.csv there, in place of the mix",
    )
    .option("--baselines", "compare a plan with stand-alone models, CascadeServe, uniform plans and routers")
    .option("--quality <list>", "with --baselines: floors on quality, comma separated, such as 80,85,90", floorsFlag)
    .option(
      "--load <a..b>",
      "in place of --rate: find a rate that loads the plan's busiest stage to between a and b, such as 0.6..0.9",
      loadFlag,
    )
    .option("--slo-scale <x>", "SLO scale behind the highest throughput", numberFlag({ min: 0.1, max: 1000 }), 5)
    .option("--requests <n>", "requests of a measurement, at most", numberFlag({ min: 200, max: 1_000_000, whole: true }), 10_000)
    .option("--no-replan", "with --baselines: keep each plan as the rate rises; without it every system is also planned for each rate")
    .option("--json", "print JSON")
    .addOption(new Option("--judge-engine <model>").hideHelp())
    .addHelpText("after", HELP)
    .action(async (flags: CompareFlags) => onExit(unreadFlag(command, flags) ?? (await compare(flags))));
  // Either --rate or --load is required, so --rate alone is not mandatory.
  command.options.find(({ long }) => long === "--rate")?.makeOptionMandatory(false);
}

/** Flags that a comparison of policies reads; the rest is in its description. */
const RACE_FLAGS = ["workload", "outcomes", "family", "tasks", "arrivals", "models", "judgeAuc", "cards", "seed", "profile", "json"];
const OWN_RACE_FLAGS = { spec: ["spec", "prompts", "recorded"], printSpec: ["printSpec", "gpu", "usdPerGpuHour"] };

/** Refuses a flag that a comparison of policies would ignore. */
function unreadFlag(command: Command, { spec, printSpec, baselines }: CompareFlags): ExitCode | null {
  // Not a single comparison of policies: refused, or a comparison with baselines.
  if (baselines === true || (spec === undefined) === (printSpec !== true)) return null;
  const read = [...RACE_FLAGS, ...OWN_RACE_FLAGS[spec === undefined ? "printSpec" : "spec"]];
  const given = command.options.filter((option) => command.getOptionValueSource(option.attributeName()) === "cli");
  const unread = given.find((option) => !read.includes(option.attributeName()));
  if (unread === undefined) return null;
  return refuse(`A race does not use ${unread.long}; its specification sets systems, engines and rates.`);
}

async function compare(flags: CompareFlags): Promise<ExitCode> {
  const asked = [flags.spec !== undefined, flags.printSpec === true, flags.baselines === true].filter((each) => each).length;
  if (asked !== 1) return refuse("Give one of --spec, --print-spec and --baselines.");
  return flags.baselines === true ? compareBaselines(flags) : raceSystems(flags);
}

async function compareBaselines(flags: CompareFlags): Promise<ExitCode> {
  const { rate: requestsPerSecond, load, quality: floors } = flags;
  if (floors === undefined) return refuse("--baselines compares under floors on quality: give --quality.");
  if ((requestsPerSecond === undefined) === (load === undefined)) return refuse("Give one of --rate and --load.");
  const rate: ComparedRate | undefined = requestsPerSecond === undefined ? load : { kind: "rate", requestsPerSecond };
  if (rate === undefined) return refuse("Give one of --rate and --load.");
  if (flags.judgeEngine !== undefined)
    return refuse("--judge-engine: baselines are planned with a judge outside the cluster: give its time by --judge-seconds.");
  // Of the situation only the rate is not used.
  const { situation: asked } = await readSituation({ ...flags, rate: requestsPerSecond ?? 1 });
  if (gpuTypes(asked.cluster).length > 1) return refuse("--cluster: baselines are planned on one GPU type; this cluster has several.");
  const reads = flags.promptTexts !== undefined || flags.directStart === "trained";
  const scored = reads ? await readTrainedStart(flags, asked) : asked;
  const situation = typeof flags.directStart === "number" ? { ...scored, directStart: { auc: flags.directStart } } : scored;
  const trained = reads ? scored.workload.outcomes : "Without --prompt-texts there is no trained predictor.";
  const cases = compareSystems({
    situation,
    floors,
    trained,
    rate,
    sloScale: flags.sloScale,
    requests: flags.requests,
    replan: flags.replan,
    engine: await loadGlpkEngine(),
    progress: (line) => process.stderr.write(`${line}\n`),
  });
  const means = comparedMeans(cases);
  const answer = {
    sloScaleOfThroughput: flags.sloScale,
    origin: situation.workload.origin,
    judge: situation.workload.judge,
    cases,
    means,
  };
  process.stdout.write(flags.json === true ? `${JSON.stringify(answer, null, 2)}\n` : describeComparison(cases, means, flags.sloScale));
  return cases.some(({ systems }) => systems.length > 0) ? EXIT.done : EXIT.infeasible;
}

function floorsFlag(text: string): number[] {
  const floor = numberFlag({ min: 0, max: 100 });
  const floors = listFlag(text).map(floor);
  if (floors.length === 0) throw new InvalidArgumentError("Give at least one floor.");
  return floors;
}

function loadFlag(text: string): Extract<ComparedRate, { kind: "load" }> {
  const [least, most, ...more] = text.split("..").map((part) => (part.trim() === "" ? Number.NaN : Number(part)));
  if (least !== undefined && most !== undefined && more.length === 0 && least > 0 && most > least && most < 1)
    return { kind: "load", least, most };
  throw new InvalidArgumentError("Write two loads above 0 and below 1, the lower first, such as 0.6..0.9.");
}
