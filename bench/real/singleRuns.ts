import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Planner } from "@/server/planning/planner/planner";
import type { UserCards } from "@/solver/hardware/cardSchema";
import type { Workload } from "@/solver/workload/workload";
import { measuredFigures } from "./figures";
import { CLIENT_CORE, fittedProfile, saturationOf } from "./measuring";
import { type PredictionContext, predictedAlone } from "./predictions";
import { type EngineKind, type EngineOrder, startEngine } from "./realEngine";
import type { Records } from "./records";
import { runClient } from "./runClient";
import type { RealSettings } from "./settings";
import { atMeanRate, completionBody, type Traffic } from "./traffic";

/** Shares of the measured saturation. */
export const SHARES = [0.2, 0.5, 0.7, 0.85] as const;

/** Runs of each traffic and share that are made this often, for the noise from one to the next: all others once. */
const REPEATED = { traffic: "poisson", times: 3, shares: [0.5, 0.85] };

/** What the bench's parts have in common. */
export interface RealBench {
  readonly records: Records;
  readonly settings: RealSettings;
  readonly planner: Planner;
  readonly cards: UserCards;
  readonly folder: string;
  /** Whether there is time for another run. */
  timeLeft(): boolean;
  says(text: string): void;
}

/** One engine of the larger model under open loops: predictions first, then the runs. */
export async function singleRuns(bench: RealBench, kind: EngineKind, source: string, traffics: readonly Traffic[]): Promise<void> {
  const { records, settings, says } = bench;
  const runs = plannedRuns(traffics);
  const left = runs.filter((run) => records.find("measured", keyOf(kind, run)) === undefined);
  if (left.length === 0 || !bench.timeLeft()) return;
  const order: EngineOrder = {
    ...{ kind, model: "arith-large", source, maxSequences: kind === "vllm" ? 32 : 8, contextTokens: 2048 },
    ...{ core: 0, frontEndCore: CLIENT_CORE, log: join(bench.folder, `${kind}.log`) },
  };
  says(`${kind}: starting`);
  const engine = await startEngine(order);
  try {
    records.add({ kind: "engine", key: kind, says: `${kind}, arith-large, one core`, loadSeconds: engine.loadSeconds });
    const cardsFile = join(bench.folder, "cards.json");
    writeFileSync(cardsFile, JSON.stringify(bench.cards));
    says(`${kind}: its profile, by a sweep of ${settings.sweepMinutes} minutes unless it is recorded`);
    const fit = { engine, key: `${kind} alone`, minutes: settings.sweepMinutes, folder: bench.folder, cardsFile };
    const profile = await fittedProfile(records, fit);
    const context: PredictionContext = { planner: bench.planner, profile, cards: bench.cards, seconds: settings.seconds };
    for (const run of left) {
      if (!bench.timeLeft()) return;
      const saturation = await saturationOf(records, `${kind} ${run.traffic.name}`, engine, run.traffic);
      await oneRun(bench, context, { engine, run, requestsPerSecond: run.share * saturation });
    }
  } finally {
    await engine.end();
  }
}

interface PlannedRun {
  readonly traffic: Traffic;
  readonly share: number;
  readonly repeat: number;
}

function plannedRuns(traffics: readonly Traffic[]): readonly PlannedRun[] {
  return traffics.flatMap((traffic) =>
    SHARES.flatMap((share) => {
      const repeats = traffic.name === REPEATED.traffic && REPEATED.shares.includes(share) ? REPEATED.times : 1;
      return Array.from({ length: repeats }, (_, repeat) => ({ traffic, share, repeat }));
    }),
  );
}

const keyOf = (kind: EngineKind, { traffic, share, repeat }: PlannedRun): string => `${kind} | ${traffic.name} | ${share} | ${repeat}`;

interface OneRun {
  readonly engine: Awaited<ReturnType<typeof startEngine>>;
  readonly run: PlannedRun;
  readonly requestsPerSecond: number;
}

async function oneRun(
  { records, settings, says }: RealBench,
  context: PredictionContext,
  { engine, run, requestsPerSecond }: OneRun,
): Promise<void> {
  const { order, url } = engine;
  const { traffic, share, repeat } = run;
  const key = keyOf(order.kind, run);
  const count = Math.max(LEAST_REQUESTS, Math.round(requestsPerSecond * settings.seconds));
  // Every share has its own arrivals; a repeat has those of the first.
  const seed = 1000 * share;
  const unscaled = traffic.arrivals(count, seed);
  if (records.find("predicted", key) === undefined) {
    const known = traffic.name === "poisson" ? traffic.arrivals(KNOWN_ARRIVALS, 77) : unscaled;
    const workload = workloadOf(order.model, traffic, known, seed);
    const asked = { workload, requestsPerSecond, models: [order.model], fixed: null, qualityFloor: 0, judge: null };
    records.add({ kind: "predicted", key, requestsPerSecond, predicted: await predictedAlone(context, asked) });
  }
  const lengths = traffic.drawn(count, seed);
  const at = atMeanRate(unscaled, requestsPerSecond);
  const requests = lengths.map((one, index) => ({
    ...{ atSeconds: at[index] ?? 0, outputTokens: one.outputTokens },
    body: completionBody(order.model, one, seed * 100_000 + repeat * 50_000 + index),
  }));
  const seconds = (at.at(-1) ?? 0) + 1;
  const task = { url, path: "/v1/completions", requests, warmUp: 8, inFlight: null, seconds, keepAnswers: false };
  const measured = measuredFigures(
    await runClient(task, CLIENT_CORE),
    lengths.map(({ outputTokens }) => outputTokens),
    true,
  );
  records.add({ kind: "measured", key, requestsPerSecond, measured });
  const predicted = records.find("predicted", key)?.predicted;
  says(`${key} at ${requestsPerSecond.toFixed(1)}/s: p95 ${ms(predicted?.p95)} predicted, ${ms(measured.p95)} measured`);
}

const ms = (seconds: number | undefined): string => `${Math.round(1000 * (seconds ?? Number.NaN))} ms`;

const KNOWN_ARRIVALS = 12_000;
const LEAST_REQUESTS = 30;

/** A table of one model with lengths that a user would know; nothing is said of quality. */
function workloadOf(model: string, { name, says, known }: Traffic, arrivalSeconds: Float64Array, seed: number): Workload {
  const full = new Float64Array(known.length).fill(100);
  return {
    name: `${name} ${seed}`,
    outcomes: {
      promptIds: known.map((_, index) => `p${index}`),
      categories: known.map(() => name),
      inputTokens: Int32Array.from(known, ({ inputTokens }) => inputTokens),
      models: [
        { ...{ model, tableName: model, label: full, judged: full }, outputTokens: Int32Array.from(known, (one) => one.outputTokens) },
      ],
    },
    arrivalSeconds,
    judge: { kind: "measured" },
    origin: { outcomes: says, arrivals: says, generated: false },
    seed: 1,
  };
}
