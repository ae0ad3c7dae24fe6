import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { FixedJudge } from "@/solver/cascade/explore/situation";
import { arrivals } from "@/solver/engine/arrivals";
import { isMeasured } from "@/solver/hardware/engineProfile";
import { joinMeasured, type MeasuredProfile } from "@/solver/hardware/measuredProfile";
import { mean } from "@/solver/numeric/quantile";
import { mixSeed } from "@/solver/numeric/random";
import type { Plan } from "@/solver/plan/plan";
import { arithmeticQuestions } from "@/solver/prompts/arithmeticQuestion";
import type { OutcomeTable, Workload } from "@/solver/workload/workload";
import { type BenchGateway, cascadeModel, startBenchGateway } from "../gateway/gatewayBench";
import type { CascadeFigures } from "./cascadeFigures";
import { measuredFigures } from "./figures";
import { type JudgeProcess, startJudge } from "./judgeProcess";
import { CLIENT_CORE, fittedProfile } from "./measuring";
import { type Asked, type PredictionContext, planOf, simulatedOf } from "./predictions";
import { answerIn, chatBody, JUDGE_MODEL, profiled } from "./questions";
import { type EngineKind, type RealEngine, startEngine } from "./realEngine";
import { runClient } from "./runClient";
import type { RealBench } from "./singleRuns";

/** Requests per second of the cascade, and of the larger model alone. */
const CASCADE_RATES = [5, 10, 20, 40, 70, 100] as const;
export const ALONE_RATES = [5, 10, 20, 40, 70, 100, 160, 250] as const;

/** Quality that the cascade is planned to have at least. */
export const FLOOR = 93;

const SMALL = "arith-small";
const LARGE = "arith-large";

/** Where the two models are, in an engine's own format. */
export interface LadderFiles {
  readonly kind: EngineKind;
  readonly small: string;
  readonly large: string;
  /** The small model at trained depth for llama.cpp, for the judge; null: the small model's engine judges. */
  readonly judging: string | null;
}

/** The cascade and its last model alone at several rates through the gateway: predictions first, then the runs. */
export async function cascadeRuns(bench: RealBench, files: LadderFiles): Promise<void> {
  const { records, says, settings } = bench;
  const left = asks(files.kind).filter(({ key }) => records.find("cascade-measured", key) === undefined);
  if (left.length === 0 || !bench.timeLeft()) return;
  const ended: (() => Promise<void>)[] = [];
  try {
    const started = await startLadder(bench, files, ended);
    const context = await fitted(bench, files.kind, started);
    says("cascade: planning questions");
    const table = await profiled([started.small, started.large].map(answering), started.judge.url, settings.questions);
    const { meanSeconds, calls, variation } = table.judge;
    const key = `${files.kind} judge`;
    if (records.find("judge", key) === undefined) records.add({ kind: "judge", key, secondsPerCall: meanSeconds, samples: calls });
    const judge: FixedJudge = {
      ...{ kind: "fixed", model: JUDGE_MODEL, secondsPerCall: meanSeconds, usdPerCall: 0, variation },
      source: { kind: "measured-at-attach", calls },
    };
    const threshold = leastThreshold(table.outcomes);
    for (const ask of left) {
      if (!bench.timeLeft()) return;
      const asked = askedOf(ask, { outcomes: table.outcomes, judge, threshold });
      const plan = await planOf(context, asked);
      if (records.find("cascade-predicted", ask.key) === undefined) {
        const predicted = "refused" in plan ? refusedFigures(plan.refused) : plannedFigures(context, asked, plan);
        records.add({ kind: "cascade-predicted", key: ask.key, requestsPerSecond: ask.rate, predicted });
      }
      const measured = await measuredThrough(started, { ask, seconds: settings.seconds, judge, threshold });
      records.add({ kind: "cascade-measured", key: ask.key, requestsPerSecond: ask.rate, measured });
      const predicted = records.find("cascade-predicted", ask.key)?.predicted;
      says(`${ask.key}: p95 ${ms(predicted?.p95)} predicted, ${ms(measured.p95)} measured`);
    }
  } finally {
    for (const end of ended.reverse()) await end();
  }
}

const ms = (seconds: number | undefined): string => `${Math.round(1000 * (seconds ?? Number.NaN))} ms`;

interface Ask {
  readonly key: string;
  readonly what: "cascade" | "alone";
  readonly rate: number;
}

/** The rates from low to high, at each the cascade beside the model alone. */
function asks(kind: EngineKind): readonly Ask[] {
  return ALONE_RATES.flatMap((rate) =>
    (["cascade", "alone"] as const).flatMap((what) =>
      what === "cascade" && !(CASCADE_RATES as readonly number[]).includes(rate)
        ? []
        : [{ key: `${kind} | ${what} | ${rate}`, what, rate }],
    ),
  );
}

interface Ladder {
  readonly small: RealEngine;
  readonly large: RealEngine;
  readonly judge: JudgeProcess;
}

const answering = ({ url, order }: RealEngine) => ({ model: order.model, url });

async function startLadder({ folder, records, says }: RealBench, files: LadderFiles, ended: (() => Promise<void>)[]): Promise<Ladder> {
  const { kind } = files;
  const start = async (model: string, source: string, on: { readonly kind: EngineKind; readonly core: number }): Promise<RealEngine> => {
    says(`${on.kind}: starting ${model}`);
    const sequences = on.kind === "vllm" ? 32 : 8;
    const order = { ...on, model, source, maxSequences: sequences, contextTokens: 2048, frontEndCore: on.core };
    const engine = await startEngine({ ...order, log: join(folder, `${on.kind}-${model}-${on.core}.log`) });
    ended.push(() => engine.end());
    return engine;
  };
  const small = await start(SMALL, files.small, { kind, core: 0 });
  const large = await start(LARGE, files.large, { kind, core: CLIENT_CORE });
  const key = `${kind} ladder`;
  records.add({ kind: "engine", key, says: `${kind}, both models, one core each`, loadSeconds: small.loadSeconds + large.loadSeconds });
  const judging = files.judging === null ? small : await start(SMALL, files.judging, { kind: "llama", core: 0 });
  const judge = await startJudge({ model: SMALL, url: judging.url }, join(folder, "judge.log"));
  ended.push(() => judge.end());
  return { small, large, judge };
}

/** Profiles of both engines, fitted while the other is up and idle. */
async function fitted(bench: RealBench, kind: EngineKind, { small, large }: Ladder): Promise<PredictionContext> {
  const { records, settings, folder, cards, planner, says } = bench;
  const cardsFile = join(folder, "cards.json");
  writeFileSync(cardsFile, JSON.stringify(cards));
  const profiles: MeasuredProfile[] = [];
  for (const engine of [small, large]) {
    says(`${kind}: the profile of ${engine.order.model}, by a sweep of ${settings.sweepMinutes} minutes unless it is recorded`);
    const key = `${kind} ladder ${engine.order.model}`;
    const profile = await fittedProfile(records, { engine, key, minutes: settings.sweepMinutes, folder, cardsFile });
    if (!isMeasured(profile)) throw new Error("weir measure wrote a profile of another form");
    profiles.push(profile);
  }
  const [first, ...others] = profiles;
  if (first === undefined) throw new Error("no engine was measured");
  const profile = joinMeasured([first, ...others]);
  return { planner, profile, cards, seconds: settings.seconds };
}

/** The least threshold whose cascade has the floor's quality on the planning questions, by this one table. */
function leastThreshold({ models }: OutcomeTable): number {
  const [small, large] = models;
  if (small === undefined || large === undefined) throw new Error("the cascade has two models");
  for (let threshold = 0; threshold <= 100; threshold += 1) {
    const labels = small.label.map((label, at) => ((small.judged[at] ?? 0) >= threshold ? label : (large.label[at] ?? 0)));
    if (mean(labels) >= FLOOR) return threshold;
  }
  throw new Error(`No threshold reaches a quality of ${FLOOR}.`);
}

interface Known {
  readonly outcomes: OutcomeTable;
  readonly judge: FixedJudge;
  readonly threshold: number;
}

const KNOWN_ARRIVALS = 12_000;

function askedOf({ what, rate }: Ask, { outcomes, judge, threshold }: Known): Asked {
  const arrivalSeconds = arrivals({ law: { kind: "poisson" }, requests: KNOWN_ARRIVALS, requestsPerSecond: 1, seed: 77 });
  const says = "arithmetic questions of one seed, answered by the real engines";
  const workload: Workload = {
    ...{ name: "arithmetic", outcomes, arrivalSeconds, judge: { kind: "measured" }, seed: 1 },
    origin: { outcomes: says, arrivals: "Poisson", generated: false },
  };
  const cascade = what === "cascade";
  return {
    ...{ workload, requestsPerSecond: rate, judge, qualityFloor: 0 },
    models: cascade ? [SMALL, LARGE] : [LARGE],
    fixed: cascade ? { models: [SMALL, LARGE], thresholds: [threshold] } : null,
  };
}

function plannedFigures(context: PredictionContext, asked: Asked, plan: Plan): CascadeFigures {
  const { p95Seconds, p95Band, meanSeconds, quality, stages } = plan.predictions;
  const { figures, endToEndSeconds } = simulatedOf(context, asked, plan);
  return {
    ...{ mean: meanSeconds, p50: figures.p50, p95: p95Seconds, p99: figures.p99, p95Low: p95Band.low, p95High: p95Band.high },
    ...{ quality, escalated: stages.find(({ model }) => model === LARGE)?.share ?? 0 },
    ...{ requests: endToEndSeconds.length, failed: 0, lateP95: null, refused: null },
  };
}

function refusedFigures(refused: string): CascadeFigures {
  const none = Number.NaN;
  return {
    ...{ mean: none, p50: none, p95: none, p99: none, p95Low: null, p95High: null },
    ...{ quality: none, escalated: none, requests: 0, failed: 0, lateP95: null, refused },
  };
}

interface Through {
  readonly ask: Ask;
  readonly seconds: number;
  readonly judge: FixedJudge;
  readonly threshold: number;
}

/** Shares and qualities need some hundreds of requests. */
const LEAST_REQUESTS = 800;
const MOST_SECONDS = 90;

async function measuredThrough(
  { small, large, judge: judging }: Ladder,
  { ask, seconds, judge, threshold }: Through,
): Promise<CascadeFigures> {
  const { what, rate } = ask;
  const stages = what === "cascade" ? [SMALL, LARGE] : [LARGE];
  const gateway: BenchGateway = await startBenchGateway(
    {
      kind: "cascade",
      stages: stages.map((model) => ({ model })),
      thresholds: stages.slice(1).map(() => threshold),
      judge: { model: JUDGE_MODEL, secondsPerCall: judge.secondsPerCall, usdPerCall: 0 },
      ...{ order: { kind: "fcfs" }, place: { kind: "least-load" } },
      approvedRanges: { thresholds: stages.slice(1).map(() => ({ min: threshold, max: threshold })) },
    },
    {
      engines: (model) => [model === SMALL ? small.url : large.url],
      ...{ judge: judging.url, judgeModel: JUDGE_MODEL, maxInFlight: 64 },
    },
  );
  try {
    const lasts = Math.max(seconds, what === "cascade" ? Math.min(MOST_SECONDS, LEAST_REQUESTS / rate) : 0);
    const count = Math.round(rate * lasts);
    const seed = mixSeed(what, rate);
    const questions = arithmeticQuestions(count, seed);
    const at = arrivals({ law: { kind: "poisson" }, requests: count, requestsPerSecond: rate, seed });
    const requests = questions.map((question, index) => {
      return { atSeconds: at[index] ?? 0, body: chatBody(cascadeModel, question), outputTokens: null };
    });
    const task = { url: gateway.url, path: "/v1/chat/completions", requests, warmUp: 8, inFlight: null, keepAnswers: true };
    const run = await runClient({ ...task, seconds: (at.at(-1) ?? 0) + 1 }, CLIENT_CORE);
    const { mean: average, p50, p95, p99, p95Low, p95High, failed, lateP95, requests: counted } = measuredFigures(run, [], false);
    const answered = run.answers.filter(({ status }) => status === 200);
    const right = answered.map(({ index, text = "" }) => (answerIn(text) === questions[index]?.answer ? 100 : 0));
    const escalated = mean(answered.map(({ answeredBy }) => (answeredBy === LARGE ? 1 : 0)));
    return {
      ...{ mean: average, p50, p95, p99, p95Low, p95High, quality: mean(right), escalated },
      ...{ requests: counted, failed, lateP95, refused: null },
    };
  } finally {
    await gateway.close();
  }
}
