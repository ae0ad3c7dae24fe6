import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import type { Planner } from "@/server/planning/planner/planner";
import type { PreparedModel } from "@/server/realModels/prepareRealModels";
import type { UserCards } from "@/solver/hardware/cardSchema";
import type { Workload } from "@/solver/workload/workload";
import { hashOf } from "../lib/provenance";
import { type EngineKind, LARGE } from "./connections";
import { measuredFigures } from "./figures";
import { CLIENT_CORE, FINDING_SATURATION, fitKey, fittedProfile, saturationOf } from "./measuring";
import { ms } from "./milliseconds";
import { type PredictionContext, predictedAlone } from "./predictions";
import { orderOn, type RealEngine, RealEngines } from "./realEngine";
import type { Records } from "./records";
import { runClient } from "./runClient";
import { requestsOf, seedOf } from "./sameRequests";
import type { RealSettings } from "./settings";
import { completionBody, type Traffic } from "./traffic";

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
  /** Both models in both formats. */
  readonly models: readonly PreparedModel[];
  /** Whether there is time for what takes so many seconds. */
  timeLeft(seconds: number): boolean;
  says(text: string): void;
}

/** Seconds of planning, and of answers that are awaited, beside those of a run. */
const AROUND_RUN = 15;

/** One engine of the larger model under open loops: predictions first, then the runs. */
export async function singleRuns(bench: RealBench, kind: EngineKind, traffics: readonly Traffic[]): Promise<void> {
  const { records, settings, says, folder } = bench;
  const left = plannedRuns(traffics).filter((run) => records.find("measured", keyOf(kind, run)) === undefined);
  if (left.length === 0 || !bench.timeLeft(settings.seconds)) return;
  const engines = await RealEngines.open(kind, bench.models, join(folder, "engines", kind));
  try {
    says(`${kind}: starting ${LARGE}`);
    const [engine] = await started(bench, engines, [orderOn(LARGE, 0)]);
    if (engine === undefined) throw new Error("no engine was started");
    if (!mayFit(bench, engine)) return;
    const profile = await fitted(bench, engine);
    const context = { planner: bench.planner, profile, profileHash: hashOf(profile), cards: bench.cards, seconds: settings.seconds };
    for (const run of left) {
      const key = `${kind} ${run.traffic.name}`;
      const finding = records.find("saturation", key) === undefined ? FINDING_SATURATION : 0;
      if (!bench.timeLeft(finding + settings.seconds + AROUND_RUN)) return;
      const saturation = await saturationOf(records, key, engine, run.traffic);
      await oneRun(bench, context, { engine, run, requestsPerSecond: run.share * saturation });
    }
  } finally {
    await engines.end();
  }
}

/** Engines that serve, those that were started now recorded. */
export async function started({ records, says }: RealBench, engines: RealEngines, orders: Parameters<RealEngines["ensure"]>[0]) {
  const { engines: up, started: now } = await engines.ensure(orders);
  for (const { kind, id, loadSeconds, command, cores } of now) {
    records.add({ kind: "engine", key: `${kind} ${id}`, loadSeconds, command: command.map(nameOf), cores });
    says(`${kind}: ${id} serves after ${Math.round(loadSeconds)} s on core ${cores}`);
  }
  return up;
}

/** A path without its folders. */
const nameOf = (word: string): string => (word.startsWith("/") ? (word.split("/").at(-1) ?? word) : word);

/** Whether an engine has a profile, or there is time to measure one. */
export const mayFit = ({ records, settings, timeLeft }: RealBench, engine: RealEngine): boolean =>
  records.find("fit", fitKey(engine)) !== undefined || timeLeft(60 * settings.sweepMinutes);

/** The engine's profile, measured unless it is recorded. */
export async function fitted({ records, settings, folder, cards, says }: RealBench, engine: RealEngine) {
  const cardsFile = join(folder, "cards.json");
  writeFileSync(cardsFile, JSON.stringify(cards));
  says(`${engine.kind}: the profile of ${engine.model}, by a sweep of ${settings.sweepMinutes} minutes unless it is recorded`);
  return fittedProfile(records, { engine, minutes: settings.sweepMinutes, folder, cardsFile });
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
  readonly engine: RealEngine;
  readonly run: PlannedRun;
  readonly requestsPerSecond: number;
}

async function oneRun({ records, settings, says }: RealBench, context: PredictionContext, one: OneRun): Promise<void> {
  const { engine, run, requestsPerSecond } = one;
  const { traffic, share, repeat } = run;
  const key = keyOf(engine.kind, run);
  const seed = seedOf(share);
  const sent = Math.max(LEAST_REQUESTS, Math.round(requestsPerSecond * settings.seconds));
  const { unscaled, atSeconds, lengths } = requestsOf({ traffic, share, requestsPerSecond, sent });
  const load = { key, requestsPerSecond, profile: context.profileHash };
  const predictedWith = (known: Float64Array, name: string) => {
    const workload = workloadOf(engine.model, traffic, known, `${traffic.name} ${name}`);
    const asked = { workload, requestsPerSecond, models: [engine.model], mostCores: 1, fixed: null, qualityFloor: 0, judge: null };
    return predictedAlone(context, asked);
  };
  const known = traffic.isReplayed ? unscaled : traffic.knownArrivals;
  const { prediction, plan } = await predictedWith(known, `${seed}`);
  const [planned] = plan === null ? [] : targetEngines(plan);
  if (planned !== undefined && planned.id !== engine.id) throw new Error(`The plan has ${planned.id}; ${engine.id} runs.`);
  const other = traffic.isReplayed ? (await predictedWith(traffic.knownArrivals, "other part")).prediction.p95 : null;
  records.add({ kind: "predicted", ...load, predicted: prediction, p95OtherPart: other });
  const requests = lengths.map((length, index) => ({
    ...{ atSeconds: atSeconds[index] ?? 0, outputTokens: length.outputTokens },
    body: completionBody(engine.model, length, seed * 100_000 + repeat * 50_000 + index),
  }));
  const seconds = (atSeconds.at(-1) ?? 0) + 1;
  const task = { url: engine.url, path: "/v1/completions", requests, warmUp: 8, inFlight: null, seconds, streamed: true };
  const beganMs = Date.now();
  const measured = measuredFigures(
    await runClient(task, CLIENT_CORE),
    lengths.map(({ outputTokens }) => outputTokens),
    true,
  );
  records.add({ kind: "measured", ...load, beganMs, measured });
  const predicted = records.all("predicted").findLast((one) => one.key === key)?.predicted;
  says(`${key} at ${requestsPerSecond.toFixed(1)}/s: p95 ${ms(predicted?.p95)} ms predicted, ${ms(measured.p95)} ms measured`);
}

const LEAST_REQUESTS = 30;

/** A table of one model with lengths that a user would know; nothing is said of quality. */
function workloadOf(model: string, traffic: Traffic, arrivalSeconds: Float64Array, title: string): Workload {
  const { name, says, known } = traffic;
  const full = new Float64Array(known.length).fill(100);
  return {
    name: title,
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
