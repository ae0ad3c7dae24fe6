import { loadHighsEngine } from "@/server/planning/ensembles/highsEngine";
import { loadGlpkEngine } from "@/server/planning/planner/glpkEngine";
import { dataConcurrent, listScheduling, roundRobin } from "@/solver/ensemble/placement/baselineSchedules";
import { optimalityText } from "@/solver/ensemble/placement/optimality";
import { type OpenPlacement, placeExperts } from "@/solver/ensemble/placement/placeExperts";
import type { PlacedExpert, PlacementProblem } from "@/solver/ensemble/placement/placement";
import { timeSchedule } from "@/solver/ensemble/placement/timeSchedule";
import { checkInstance, linearCost } from "@/solver/ensemble/testing/testPlacements";
import type { MilpEngine } from "@/solver/milp/engine";
import { seededRandom } from "@/solver/numeric/random";
import { atMost, type Benchmark, type Measurement } from "../lib/benchmark";

const engines: readonly (readonly [string, () => Promise<MilpEngine>])[] = [
  ["HiGHS", loadHighsEngine],
  ["glpk.js", loadGlpkEngine],
];

/** Time limit of the engine, over all Ks. */
const TIME_LIMIT_SECONDS = 5;
/** Problems of one size, each with its own seed. */
const SEEDS = [1, 2, 3] as const;

const sizes = [
  { experts: 6, workers: 4 },
  { experts: 12, workers: 8 },
  { experts: 20, workers: 16 },
  { experts: 20, workers: 64 },
] as const;

/** Log standard deviations of experts' prompts; the source's most and least popular experts differ by factors of 3 to 92. */
const tails = { even: 0.6, "heavy-tailed": 1.6 } as const;

interface Size {
  readonly experts: number;
  readonly workers: number;
}

/** A third of the experts reason, at 1 to 3 s a prompt as on the source's MMLU-Pro, the others take 0.1 to 0.3 s; loads of 35 to 50 s. */
function drawn({ experts, workers }: Size, tail: keyof typeof tails, seed: number): OpenPlacement {
  const random = seededRandom(seed);
  const list = Array.from({ length: experts }, (_, index): PlacedExpert => {
    const prompts = 1 + Math.round(random.lognormal(6.5, tails[tail]));
    const secondsPerPrompt = random.next() < 1 / 3 ? 1 + 2 * random.next() : 0.1 + 0.2 * random.next();
    return { name: `expert ${index}`, prompts, loadSeconds: 35 + 15 * random.next(), cost: linearCost(secondsPerPrompt) };
  });
  return { workers, maxModelsPerWorker: null, replicas: "amortised", experts: list };
}

/** Places once; the result compared with the best of the baselines, which need not keep K. */
function placed(problem: OpenPlacement, engine: MilpEngine) {
  const startedMs = performance.now();
  const answer = placeExperts(problem, { engine, timeLimitSeconds: TIME_LIMIT_SECONDS });
  const seconds = (performance.now() - startedMs) / 1000;
  if (!answer.ok) throw new Error(answer.message);
  const { value } = answer;
  const within: PlacementProblem = { ...problem, maxModelsPerWorker: value.maxModelsPerWorker };
  const best = Math.min(
    ...[roundRobin(within), listScheduling(within), dataConcurrent(within)].map((schedule) =>
      schedule === null ? Number.POSITIVE_INFINITY : timeSchedule(problem.experts, schedule).makespanSeconds,
    ),
  );
  return { seconds, value, ratio: best / value.timed.makespanSeconds };
}

const percent = (share: number): string => `${(100 * share).toPrecision(2)} %`;
const span = (values: readonly number[], text: (value: number) => string): string => values.map(text).join(", ");

async function check(load: () => Promise<MilpEngine>, problem: OpenPlacement): Promise<Measurement> {
  const engine = await load();
  const { seconds, value, ratio } = placed(problem, engine);
  const sweep = value.sweep.map((each) => `${each.maxModelsPerWorker}: ${each.makespanSeconds.toFixed(2)} s`).join(", ");
  return {
    figure: value.timed.makespanSeconds,
    unit: "s",
    detail: `${engine.name}; ${optimalityText(value.optimality)}, in ${seconds.toPrecision(2)} s; best baseline ${ratio.toFixed(2)} times as long; makespan by K ${sweep}`,
  };
}

async function size(load: () => Promise<MilpEngine>, of: Size, tail: keyof typeof tails): Promise<Measurement> {
  const engine = await load();
  const runs = SEEDS.map((seed) => placed(drawn(of, tail, seed), engine));
  const gapOf = ({ value }: ReturnType<typeof placed>): number => value.optimality.gap;
  return {
    figure: 100 * Math.max(...runs.map(gapOf)),
    unit: "% gap",
    detail: [
      `${engine.name}, the largest of ${span(runs.map(gapOf), (gap) => (gap < 1e-6 ? "0" : percent(gap)))}`,
      `by search alone ${runs.filter(({ value }) => value.optimality.by === "search").length} of ${runs.length}`,
      `at most ${Math.max(...runs.map(({ seconds }) => seconds)).toPrecision(3)} s`,
      `best baseline ${span(
        runs.map(({ ratio }) => ratio),
        (ratio) => ratio.toFixed(2),
      )} times as long`,
      `K ${span(
        runs.map(({ value }) => value.maxModelsPerWorker),
        String,
      )} of a sweep`,
    ].join("; "),
  };
}

/** Placing experts of mixtures of agents: a known optimum, and larger problems within seconds at a reported gap. */
export const placementBenchmarks: readonly Benchmark[] = [
  ...engines.flatMap(([name, load]): Benchmark[] => [
    {
      name: `placement, check instance at K = 2, ${name}`,
      budget: atMost(1491.8501, "the engine ends before the known optimum, or the model leaves it out"),
      run: () => check(load, checkInstance(2)),
    },
    {
      name: `placement, check instance, K swept, ${name}`,
      budget: null,
      run: () => check(load, { ...checkInstance(2), maxModelsPerWorker: null }),
    },
  ]),
  ...sizes.flatMap((of) =>
    (["even", "heavy-tailed"] as const).flatMap((tail) =>
      // Beyond some size the engine contributes nothing.
      engines.slice(0, of.workers <= 8 ? 2 : 1).map(
        ([name, load]): Benchmark => ({
          name: `placement of ${of.experts} ${tail} experts on ${of.workers} workers, ${name}`,
          budget: atMost(3, "the engine's time ends with its best placement further from its bound"),
          run: () => size(load, of, tail),
        }),
      ),
    ),
  ),
];
