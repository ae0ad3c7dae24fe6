import { mean } from "@/solver/numeric/quantile";
import { mixSeed, seededRandom } from "@/solver/numeric/random";
import { agentLine, type LineAgent, placeOnLine } from "@/solver/workflow/learning/agentLine";
import { callGraph } from "@/solver/workflow/learning/callGraph";
import { drawKnownProgram, type ProgramShape, structureFound, TEST_RESOLUTION_SECONDS } from "@/solver/workflow/testing/testProgramGraphs";
import { agentRunsPresent } from "../lib/agentRuns";
import { atMost, type Benchmark, type Measurement } from "../lib/benchmark";
import { dataPresent } from "../lib/compareData";
import { writeTables } from "../lib/results";
import { table } from "../lib/tables";
import { type OrderAccuracy, orderAccuracy, SPLITS } from "./accuracy";
import { applications, raceWorkload } from "./apps";
import { drawnPrograms, type ObservedProgram, recordedPrograms, withoutPauses } from "./observedPrograms";

/** Drawn programs of an application, half of them for training. */
const PROGRAMS = 600;

/** Number of agents whose priorities the source computes in at most 4.3 s, and the time limit here. */
const MANY = 5000;
const BUDGET_MILLISECONDS = 500;

interface AccuracyRow {
  readonly name: string;
  readonly splits: readonly OrderAccuracy[];
}

const accuracyOf = (name: string, programs: readonly ObservedProgram[]): AccuracyRow => ({
  name,
  splits: Array.from({ length: SPLITS }, (_, split) => orderAccuracy(programs, split)),
});

/** Pair accuracy of ChatDev's runs where they are available, and of the source's applications drawn from answers where those are. */
async function accuracy(): Promise<Measurement> {
  const rows: AccuracyRow[] = [];
  if (agentRunsPresent()) {
    const recorded = await recordedPrograms();
    rows.push(accuracyOf("ChatDev's runs", recorded), accuracyOf("the same without pauses", recorded.map(withoutPauses)));
  }
  if (dataPresent()) {
    const { outcomes } = await raceWorkload();
    for (const { name, workflows } of applications) {
      rows.push(accuracyOf(`${name}, drawn`, drawnPrograms(outcomes, workflows, PROGRAMS * workflows.length)));
    }
  }
  const columns = [
    ["line (Kairos)", "line"],
    ["mean", "mean"],
    ["median", "median"],
    ["calls to come (Ayo)", "depth"],
    ["arrival (Parrot)", "arrival"],
    ["agents' true means", "trueMean"],
    ["any order of agents, at most", "bound"],
  ] as const;
  const percent = (row: AccuracyRow, key: keyof OrderAccuracy): string => {
    const values = row.splits.map((split) => 100 * split[key]);
    return `${mean(values).toFixed(1)} (${Math.min(...values).toFixed(1)} to ${Math.max(...values).toFixed(1)})`;
  };
  const lines = rows.map((row) => [row.name, ...columns.map(([, key]) => percent(row, key))]);
  writeTables("kairos-accuracy", [table(["%", ...columns.map(([title]) => title)], lines)]);
  const over = (key: keyof OrderAccuracy): number => 100 * mean(rows.map(({ splits }) => mean(splits.map((split) => split[key]))));
  const each = rows.map((row) => `${row.name} ${(100 * mean(row.splits.map(({ line }) => line))).toFixed(1)}`).join(", ");
  return {
    figure: over("line"),
    unit: "% of pairs",
    detail: `held-out calls of different agents in the order of their true remaining latencies, mean over ${rows.length} cases of ${SPLITS} splits each: ${each}; by calls to come ${over("depth").toFixed(1)}, by arrival ${over("arrival").toFixed(1)}; the source 83.5, 75.9 and 50`,
  };
}

export const kairosOrderBenchmarks: readonly Benchmark[] = [
  ...[10, 100, 1000, MANY].map((count) => ({
    name: `agent priorities, ${count} agents`,
    budget: count === MANY ? atMost(BUDGET_MILLISECONDS, "placing one agent costs more than 0.1 ms") : null,
    run: () => lineTime(count),
  })),
  {
    name: "workflow structure",
    budget: atMost(0, "an edge or a step of a program is reconstructed otherwise than it was drawn, and no tie explains it"),
    run: structureErrors,
  },
  ...(agentRunsPresent() || dataPresent() ? [{ name: "order accuracy", budget: null, run: accuracy }] : []),
];

/** Quantiles of each agent, at equal steps of probability. */
const QUANTILES = 33;

const TIMED_RUNS = 5;

/** Agents placed on a finished line, one by one. */
const PLACED = 50;

/**
 * Lognormal latencies with medians of half a second to ten minutes, from narrow to wide spreads; with equal means, so that all of them
 * cross.
 */
function drawnAgents(count: number, equalMeans: boolean): readonly LineAgent[] {
  const random = seededRandom(mixSeed(1, "agents", count));
  return Array.from({ length: count }, (_, at) => {
    const [middle, spread] = [Math.log(0.5) + Math.log(1200) * random.next(), 0.2 + 1.3 * random.next()];
    const latencies = Array.from({ length: QUANTILES }, () => random.lognormal(middle, spread)).sort((one, other) => one - other);
    const scale = equalMeans ? (20 * QUANTILES) / latencies.reduce((sum, value) => sum + value, 0) : 1;
    return { key: `application/agent-${at}`, quantilesSeconds: latencies.map((value) => value * scale) };
  });
}

interface Milliseconds {
  /** Processor time, all threads of this process together. */
  readonly processor: number;
  readonly wall: number;
}

/** The minimum over a few runs. */
function bestOf(work: () => unknown): Milliseconds {
  const runs = Array.from({ length: TIMED_RUNS }, () => {
    const [before, cpuBefore] = [performance.now(), process.cpuUsage()];
    work();
    const { user, system } = process.cpuUsage(cpuBefore);
    return { processor: (user + system) / 1000, wall: performance.now() - before };
  });
  return { processor: Math.min(...runs.map(({ processor }) => processor)), wall: Math.min(...runs.map(({ wall }) => wall)) };
}

const shown = (milliseconds: number): string => (milliseconds < 100 ? milliseconds.toPrecision(2) : milliseconds.toFixed(0));

/** Processor time to place so many agents from scratch. */
function lineTime(count: number): Measurement {
  const agents = drawnAgents(count, false);
  const crossing = drawnAgents(count, true);
  const anew = bestOf(() => agentLine(agents));
  const line = agentLine(agents);
  const others = drawnAgents(PLACED, true);
  const placing = bestOf(() => others.map(({ quantilesSeconds }) => placeOnLine(line, quantilesSeconds))).processor / PLACED;
  return {
    figure: anew.processor,
    unit: "ms of one core",
    detail: `${QUANTILES} quantiles each, lognormal with medians of 0.5 to 600 s, best of ${TIMED_RUNS}; ${shown(anew.wall)} ms of the wall; ${shown(bestOf(() => agentLine(crossing)).processor)} ms where all means are equal and all distributions cross; one more agent placed in ${shown(placing)} ms`,
  };
}

const KNOWN_PROGRAMS = 1000;

/** Random programs whose reconstructed calls differ from the true ones, though no times were within the clock's resolution. */
function structureErrors(): Measurement {
  const programs = Array.from({ length: KNOWN_PROGRAMS }, (_, seed) => drawKnownProgram(seed));
  const found = programs.map(structureFound);
  const count = (kind: (typeof found)[number]): number => found.filter((each) => each === kind).length;
  const calls = programs.reduce((sum, program) => sum + program.calls.length, 0);
  const edges = programs.reduce((sum, program) => sum + program.edges.size, 0);
  const shapes = new Map<ProgramShape, number>();
  for (const program of programs) for (const shape of program.shapes) shapes.set(shape, (shapes.get(shape) ?? 0) + 1);
  const ways = [...shapes].map(([shape, having]) => `${shape} in ${having}`).join(", ");
  const before = performance.now();
  for (const program of programs) callGraph(program.calls, TEST_RESOLUTION_SECONDS);
  const microseconds = (1000 * (performance.now() - before)) / calls;
  return {
    figure: count("wrong"),
    unit: "wrong",
    detail: `of ${KNOWN_PROGRAMS} random programs with ${calls.toLocaleString("en")} calls and ${edges.toLocaleString("en")} edges ${count("equal")} equal the truth in every edge and every step of calls side by side, ${count("tied")} have every edge and count ties: steps that touch within the clock's resolution, taken otherwise than they were; ${ways}; ${microseconds.toFixed(1)} us a call`,
  };
}
