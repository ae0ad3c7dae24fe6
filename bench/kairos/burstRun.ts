import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { clusterReplicas, enginesByModel } from "@/server/lab/labEngines";
import { simulatePrograms } from "@/solver/cluster/simulatePrograms";
import { vllmProfile } from "@/solver/hardware/builtInProfiles";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { capacityOf } from "@/solver/lab/engineFigures";
import { kairosSystems } from "@/solver/lab/kairosSystems";
import { mean, quantileOfSorted } from "@/solver/numeric/quantile";
import { mixSeed } from "@/solver/numeric/random";
import { buildPolicy } from "@/solver/policies/buildPolicy";
import { drawPrograms } from "@/solver/workflow/drawPrograms";
import { measuredPrograms } from "@/solver/workflow/measuredPrograms";
import type { ProgramSample } from "@/solver/workflow/programSample";
import { workflows } from "@/solver/workflow/templates";
import { agentRuns, agentRunsPresent } from "../lib/agentRuns";
import { data } from "../lib/compareData";
import { once } from "../lib/once";
import { raceWorkload, settings } from "./apps";

/** Rates, over the rate at which the engines saturate: below, at and above. */
const LOADS = [0.7, 1, 1.3] as const;

/** No parameter is tuned on these. */
const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];

/** Share of the programs of a run, the first to arrive, that teach the learner and are not in the figures. */
const TAUGHT = 1 / 3;

/** More releases than a run has: nothing ages, as in the source. */
const NEVER = 1_000_000;

const MODEL = "llama-3.1-8b";
const hardware = { catalogue: catalogueOf(noUserCards), profile: vllmProfile };
const traces = {
  conversations: join(data, "traces", "AzureLLMInferenceTrace_conv.csv"),
  code: join(data, "traces", "AzureLLMInferenceTrace_code.csv"),
} as const;

/** Programs of one kind on engines of one kind, arriving as requests of a production trace did. */
export interface BurstCase {
  readonly name: string;
  readonly setting: (typeof settings)[number]["name"];
  readonly trace: keyof typeof traces;
  readonly programs: number;
  readonly draw: (arrivalSeconds: Float64Array, seed: number) => Promise<ProgramSample>;
}

const workload = once(raceWorkload);

const coLocated: BurstCase["draw"] = async (arrivalSeconds, seed) => {
  const { outcomes } = await workload();
  return drawPrograms({
    outcomes: { ...outcomes, models: outcomes.models.filter(({ model }) => model === MODEL) },
    prompts: Int32Array.from(outcomes.promptIds.keys()),
    mix: workflows
      .filter(({ name }) => ["qa-router", "report", "code-with-feedback"].includes(name))
      .map((workflow) => ({ workflow, share: 1 })),
    correlation: 0.5,
    arrivalSeconds,
    seed,
  });
};
const recorded: BurstCase["draw"] = async (arrivalSeconds, seed) =>
  measuredPrograms({ runs: await agentRuns(), models: [MODEL], arrivalSeconds, seed });

export const burstCases: readonly BurstCase[] = [
  { name: "co-located, 8B on 24 GB, code", setting: "8B on 24 GB", trace: "code", programs: 1000, draw: coLocated },
  { name: "co-located, 8B on 24 GB, conversations", setting: "8B on 24 GB", trace: "conversations", programs: 1000, draw: coLocated },
  { name: "agent runs, 8B on 24 GB, conversations", setting: "8B on 24 GB", trace: "conversations", programs: 240, draw: recorded },
  { name: "co-located, 8B, code", setting: "8B", trace: "code", programs: 1000, draw: coLocated },
];

/** Whether traces, runs and answers are available. */
export const burstsPresent = (): boolean => Object.values(traces).every((file) => existsSync(file)) && agentRunsPresent();

/** Figures of one system at one load, seed by seed. */
export interface BurstRow {
  readonly case: string;
  readonly load: number;
  readonly system: string;
  readonly programsPerSecond: number;
  /** Coefficient of variation of the gaps between arrivals: 1 for Poisson. */
  readonly burstiness: readonly number[];
  readonly queueFraction: readonly number[];
  readonly meanSecondsPerToken: readonly number[];
  readonly p90SecondsPerToken: readonly number[];
  readonly p95SecondsPerToken: readonly number[];
  readonly p99SecondsPerToken: readonly number[];
  readonly preemptedShare: readonly number[];
  readonly longestWaitSeconds: readonly number[];
}

const FIGURES = [
  "burstiness",
  "queueFraction",
  "meanSecondsPerToken",
  "p90SecondsPerToken",
  "p95SecondsPerToken",
  "p99SecondsPerToken",
  "preemptedShare",
  "longestWaitSeconds",
] as const;
type Figures = { readonly [figure in (typeof FIGURES)[number]]: number };

const traceSeconds = once((): Promise<{ readonly [trace in keyof typeof traces]: Float64Array }> => {
  const read = (file: string): Float64Array => {
    const lines = readFileSync(file, "utf8").split("\n").slice(1);
    const times = lines.map((line) => Date.parse(`${(line.split(",")[0] ?? "").replace(" ", "T").slice(0, 23)}Z`) / 1000);
    return Float64Array.from(times.filter(Number.isFinite)).sort();
  };
  return Promise.resolve({ conversations: read(traces.conversations), code: read(traces.code) });
});

/** A stretch of the trace from a place drawn by the seed, which begins again where the trace ends, at a rate. */
function window(
  seconds: Float64Array,
  { programs, rate, seed }: { readonly programs: number; readonly rate: number; readonly seed: number },
) {
  const start = mixSeed(seed, "stretch of the trace") % seconds.length;
  const gaps = Float64Array.from({ length: programs - 1 }, (_, at) => {
    const from = (start + at) % seconds.length;
    // Where the trace ends there is no gap to the beginning.
    return Math.max(0, (seconds[from + 1] ?? seconds[from] ?? 0) - (seconds[from] ?? 0));
  });
  const scale = 1 / (rate * mean(gaps));
  const arrivalSeconds = new Float64Array(programs);
  for (const [at, gap] of gaps.entries()) arrivalSeconds[at + 1] = (arrivalSeconds[at] ?? 0) + scale * gap;
  const spread = Math.sqrt(mean(gaps.map((gap) => gap * gap)) / mean(gaps) ** 2 - 1);
  return { arrivalSeconds, burstiness: spread };
}

/** All systems on a case at the three loads. @param seeds of programs and stretches. */
export async function runBursts(of: BurstCase, seeds: readonly number[] = SEEDS): Promise<readonly BurstRow[]> {
  const setting = settings.find(({ name }) => name === of.setting);
  if (setting === undefined) throw new Error(`There is no setting ${of.setting}`);
  const engines = enginesByModel([setting.replicas], hardware);
  const typical = await of.draw(new Float64Array(Math.min(1000, of.programs)), 0);
  const saturation = capacityOf(engines, typical);
  const replicas = clusterReplicas(engines, { queue: "centre", aging: null }, typical);
  const systems = kairosSystems((order, place) => ({ kind: "fixed", model: MODEL, order, place }), NEVER).filter(
    ({ lengths }) => lengths === "none",
  );
  const seconds = (await traceSeconds())[of.trace];
  const rows: BurstRow[] = [];
  for (const load of LOADS) {
    const rate = load * saturation;
    const bySystem = new Map<string, Figures[]>(systems.map(({ name }) => [name, []]));
    for (const seed of seeds) {
      const { arrivalSeconds, burstiness } = window(seconds, { programs: of.programs, rate, seed });
      const sample = await of.draw(arrivalSeconds, seed);
      for (const { name, policy } of systems) {
        const outcome = simulatePrograms({
          ...{ policy: buildPolicy(policy), sample, replicas, telemetrySeconds: 1 },
          overhead: { routeSeconds: 0.005, predictSeconds: 0.005, decideSeconds: 0.001 },
        });
        bySystem.get(name)?.push({ burstiness, ...figuresOf(outcome, sample) });
      }
    }
    process.stderr.write(`kairos bursts, ${of.name}, ${load}\n`);
    for (const [system, figures] of bySystem) {
      const values = Object.fromEntries(FIGURES.map((figure) => [figure, figures.map((one) => one[figure])]));
      rows.push({ case: of.name, load, system, programsPerSecond: rate, ...(values as { readonly [figure in keyof Figures]: number[] }) });
    }
  }
  return rows;
}

/** Figures of the programs after those that teach. */
function figuresOf(outcome: ReturnType<typeof simulatePrograms>, sample: ProgramSample): Omit<Figures, "burstiness"> {
  const { endToEndSeconds, outputTokens, queueSeconds, waitSeconds, preemptedRequests, unserved } = outcome;
  if (unserved > 0) throw new Error(`${unserved} programs were not served`);
  const counted = Array.from(endToEndSeconds.keys()).slice(Math.ceil(TAUGHT * endToEndSeconds.length));
  const perToken = Float64Array.from(counted, (at) => (endToEndSeconds[at] ?? 0) / Math.max(1, outputTokens[at] ?? 0)).sort();
  return {
    queueFraction: mean(Float64Array.from(counted, (at) => (queueSeconds[at] ?? 0) / (endToEndSeconds[at] ?? 1))),
    meanSecondsPerToken: mean(perToken),
    p90SecondsPerToken: quantileOfSorted(perToken, 0.9),
    p95SecondsPerToken: quantileOfSorted(perToken, 0.95),
    p99SecondsPerToken: quantileOfSorted(perToken, 0.99),
    preemptedShare: preemptedRequests / sample.program.length,
    longestWaitSeconds: waitSeconds.reduce((most, wait) => Math.max(most, wait), 0),
  };
}
