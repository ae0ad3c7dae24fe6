import { type Command, Option } from "commander";
import { loadHighsEngine } from "@/server/planning/ensembles/highsEngine";
import { baselineSchedules } from "@/solver/ensemble/placement/baselineSchedules";
import { placeExperts } from "@/solver/ensemble/placement/placeExperts";
import type { PlacementProblem } from "@/solver/ensemble/placement/placement";
import { describePlacement } from "../describe/describePlacement";
import { EXIT, type ExitCode, refuse } from "../flags/exitCodes";
import { numberFlag } from "../flags/flagValues";
import { readPlacementFile } from "../flags/placementFile";

interface PlaceFlags {
  readonly instance: string;
  readonly timeLimit: number;
  readonly replicas?: PlacementProblem["replicas"];
  readonly json: boolean;
}

const HELP = `
The file (JSON or YAML): {workers: 4, maxModelsPerWorker: 2, experts: [{name: a, prompts: 1070, secondsPerPrompt: 2.34, loadSeconds: 42}]}.
Without maxModelsPerWorker it is swept. Experts may be on as many workers as their time amortises a load each, or on one with replicas: single.
Exit code 3: the workers have no room for all experts.`;

/** `weir place`: experts of a mixture of agents on workers that hold one model at a time, for the shortest makespan. */
export function addPlaceCommand(program: Command, onExit: (code: ExitCode) => void): void {
  program
    .command("place")
    .description("place experts of a mixture of agents on workers for the shortest makespan")
    .requiredOption("--instance <file>", "JSON or YAML of workers and experts")
    .option(
      "--time-limit <seconds>",
      "of the MILP engine; the search beside it takes up to some ten more",
      numberFlag({ min: 0.1, max: 3600 }),
      8,
    )
    .addOption(new Option("--replicas <rule>", "workers of one expert, in place of the file's").choices(["amortised", "single"]))
    .option("--json", "print JSON", false)
    .addHelpText("after", HELP)
    .action(async (flags: PlaceFlags) => onExit(await place(flags)));
}

async function place(flags: PlaceFlags): Promise<ExitCode> {
  const read = readPlacementFile(flags.instance);
  const problem = { ...read, replicas: flags.replicas ?? read.replicas };
  const engine = await loadHighsEngine();
  const placed = placeExperts(problem, { engine, timeLimitSeconds: flags.timeLimit });
  if (!placed.ok) {
    if (flags.json) process.stdout.write(`${JSON.stringify({ outcome: "infeasible", reason: placed.message }, null, 2)}\n`);
    return refuse(placed.message, EXIT.infeasible);
  }
  const { value } = placed;
  const { experts } = problem;
  const compared = baselineSchedules({ ...problem, maxModelsPerWorker: value.maxModelsPerWorker });
  const baselines = compared.map(({ kind, timed }) => ({ kind, makespanSeconds: timed?.makespanSeconds ?? null }));
  if (!flags.json) {
    process.stdout.write(describePlacement(experts, value, baselines));
    return EXIT.done;
  }
  const { makespanSeconds, workers, idle, loads } = value.timed;
  const answer = {
    makespanSeconds,
    ...value.optimality,
    maxModelsPerWorker: value.maxModelsPerWorker,
    workers: workers.map((sessions) => ({
      sessions: sessions.map(({ expert, ...session }) => ({ expert: experts[expert]?.name, ...session })),
    })),
    idle,
    loads,
    sweep: value.sweep,
    baselines,
    says: experts.map(({ name }, index) => ({ expert: name, says: value.says[index] })),
    engine: engine.name,
  };
  process.stdout.write(`${JSON.stringify(answer, null, 2)}\n`);
  return EXIT.done;
}
