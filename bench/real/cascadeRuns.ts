import { join } from "node:path";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import { arrivals } from "@/solver/engine/arrivals";
import { isMeasured } from "@/solver/hardware/engineProfile";
import { joinMeasured } from "@/solver/hardware/measuredProfile";
import { mean } from "@/solver/numeric/quantile";
import { mixSeed } from "@/solver/numeric/random";
import { inFlightLimit } from "@/solver/plan/inFlightLimit";
import { arithmeticQuestions } from "@/solver/prompts/arithmeticQuestion";
import { cascadeModel, startBenchGateway } from "../gateway/gatewayBench";
import { hashOf } from "../lib/provenance";
import { type CascadeFigures, partsOf } from "./cascadeFigures";
import { type Ask, asks, type Known, type Planned, plannedFor } from "./cascadePlans";
import { type EngineKind, LARGE, SMALL } from "./connections";
import { measuredFigures } from "./figures";
import { CLIENT_CORE, recordedProfile } from "./measuring";
import { ms } from "./milliseconds";
import type { PredictionContext } from "./predictions";
import { type Answering, answerIn, chatBody, outcomesOf, profiled } from "./questions";
import { orderOn, type RealEngine, RealEngines } from "./realEngine";
import type { RecordOf, Records } from "./records";
import { runClient } from "./runClient";
import { fitted, mayFit, type RealBench, started } from "./singleRuns";

/** Shares and qualities need some hundreds of requests. */
const LEAST_REQUESTS = 800;
const MOST_SECONDS = 90;
/** Seconds of a gateway's start, and of answers that are awaited. */
const AROUND_RUN = 15;
/** Seconds that the planning questions take at most. */
const PROFILING = 240;
/** Seconds that all plans take at most. */
const PLANNING = 60;

/** The cascade and the larger model alone at several rates through the gateway: all predictions first, then the runs. */
export async function cascadeRuns(bench: RealBench, kind: EngineKind): Promise<void> {
  const { records, says, settings } = bench;
  const left = asks(kind).filter(({ key }) => records.find("cascade-measured", key) === undefined);
  if (left.length === 0 || !bench.timeLeft(settings.seconds)) return;
  const engines = await RealEngines.open(kind, bench.models, join(bench.folder, "engines", kind));
  try {
    const context = await fittedLadder(bench, kind, engines);
    if (context === null) return;
    const judge = await engines.judge();
    const known = await knownOutcomes(bench, kind, engines, judge);
    if (known === null || !bench.timeLeft(PLANNING)) return;
    says(`${kind}: planning`);
    const planned = new Map<string, Planned>();
    for (const ask of asks(kind)) planned.set(ask.key, await recordedPlan(bench, context, ask, known));
    for (const ask of left) {
      const plan = planOrNext(ask, asks(kind), planned);
      if (plan === null) {
        says(`${ask.key}: there is no plan at any rate`);
        continue;
      }
      const orders = targetEngines(plan);
      const loading = engines.areUp(orders) ? 0 : lastLoad(records, kind);
      if (!bench.timeLeft(loading + lengthOf(ask, settings.seconds) + AROUND_RUN)) return;
      const up = await started(bench, engines, orders);
      const beganMs = Date.now();
      const measured = await measuredThrough(up, { ask, plan, seconds: settings.seconds, judge });
      const refused = planned.get(ask.key)?.predicted.refused ?? null;
      const load = { key: ask.key, requestsPerSecond: ask.rate, profile: context.profileHash };
      records.add({ kind: "cascade-measured", ...load, beganMs, measured: { ...measured, refused } });
      const predicted = records.find("cascade-predicted", ask.key)?.predicted;
      says(`${ask.key}: p95 ${ms(predicted?.p95)} ms predicted, ${ms(measured.p95)} ms measured`);
    }
  } finally {
    await engines.end();
  }
}

/** Seconds that engines of a kind took to load when they were started last. */
const lastLoad = (records: Records, kind: EngineKind): number =>
  records.all("engine").findLast(({ key }) => key.startsWith(`${kind} `))?.loadSeconds ?? 0;

/** Profiles of both engines, measured while the other is up and idle unless they are recorded; null: there is no time. */
async function fittedLadder(bench: RealBench, kind: EngineKind, engines: RealEngines): Promise<PredictionContext | null> {
  const { records, planner, cards, settings } = bench;
  const recorded = (model: string) => recordedProfile(records, { kind, model });
  if ([SMALL, LARGE].some((model) => recorded(model) === null)) {
    bench.says(`${kind}: starting both models`);
    for (const engine of await started(bench, engines, BOTH)) {
      if (!mayFit(bench, engine)) return null;
      await fitted(bench, engine);
    }
  }
  const [small, large] = [recorded(SMALL), recorded(LARGE)];
  if (small === null || large === null || !isMeasured(small) || !isMeasured(large)) throw new Error("an engine has no measured profile");
  const profile = joinMeasured([small, large]);
  return { planner, profile, profileHash: hashOf(profile), cards, seconds: settings.seconds };
}

/** Both models, a core each, before there is a plan. */
const BOTH = [orderOn(SMALL, 0), orderOn(LARGE, 1)];

/** What both models answer to the planning questions, and the judge's time; recorded once. null: there is no time. */
async function knownOutcomes(bench: RealBench, kind: EngineKind, engines: RealEngines, judge: Answering): Promise<Known | null> {
  const { records, says, settings } = bench;
  if (records.find("outcomes", kind) === undefined) {
    if (!bench.timeLeft(PROFILING)) return null;
    says(`${kind}: asking the planning questions`);
    const up = await started(bench, engines, BOTH);
    records.add({ kind: "outcomes", key: kind, ...(await profiled(up, judge, settings.questions)) });
  }
  const found = records.find("outcomes", kind);
  return found === undefined ? null : knownOf(found, judge);
}

function knownOf({ inputTokens, models, judge: { meanSeconds, variation, calls } }: RecordOf<"outcomes">, { model }: Answering): Known {
  return {
    outcomes: outcomesOf({ inputTokens, models }),
    judge: {
      ...{ kind: "fixed", model, secondsPerCall: meanSeconds, usdPerCall: 0, variation },
      source: { kind: "measured-at-attach", calls },
    },
  };
}

/** The plan of an ask, its prediction recorded. @throws Error where an earlier part of the run recorded another. */
async function recordedPlan({ records }: RealBench, context: PredictionContext, ask: Ask, known: Known): Promise<Planned> {
  const planned = await plannedFor(context, ask, known);
  const before = records.find("cascade-predicted", ask.key);
  if (before === undefined) {
    const load = { key: ask.key, requestsPerSecond: ask.rate, profile: context.profileHash };
    records.add({ kind: "cascade-predicted", ...load, predicted: planned.predicted });
  } else if (before.predicted.plan !== planned.predicted.plan)
    throw new Error(`${ask.key} was predicted with plan ${before.predicted.plan}; the planner makes ${planned.predicted.plan} now.`);
  return planned;
}

/** The plan of an ask; for a rate that the planner refuses, that of the highest rate that has one. */
function planOrNext(ask: Ask, all: readonly Ask[], planned: ReadonlyMap<string, Planned>): Planned["plan"] {
  const own = planned.get(ask.key)?.plan ?? null;
  if (own !== null) return own;
  const alike = all.filter(({ what }) => what === ask.what).sort((a, b) => b.rate - a.rate);
  return alike.flatMap(({ key }) => planned.get(key)?.plan ?? [])[0] ?? null;
}

const lengthOf = ({ what, rate }: Ask, seconds: number): number =>
  Math.max(seconds, what === "cascade" ? Math.min(MOST_SECONDS, LEAST_REQUESTS / rate) : 0);

interface Through {
  readonly ask: Ask;
  readonly plan: NonNullable<Planned["plan"]>;
  readonly seconds: number;
  readonly judge: Answering;
}

async function measuredThrough(
  up: readonly RealEngine[],
  { ask, plan, seconds, judge }: Through,
): Promise<Omit<CascadeFigures, "refused">> {
  const { what, rate } = ask;
  const [limit] = plan.deployment.flatMap(({ replicas }) => replicas.map(inFlightLimit));
  const gateway = await startBenchGateway(plan.policy, {
    engines: (model) => up.filter((engine) => engine.model === model).map(({ url }) => url),
    ...{ judge: judge.url, judgeModel: judge.model, ...(limit === undefined ? {} : { maxInFlight: limit }) },
  });
  try {
    const count = Math.round(rate * lengthOf(ask, seconds));
    const seed = mixSeed(what, rate);
    const questions = arithmeticQuestions(count, seed);
    const at = arrivals({ law: { kind: "poisson" }, requests: count, requestsPerSecond: rate, seed });
    const requests = questions.map((question, index) => {
      return { atSeconds: at[index] ?? 0, body: chatBody(cascadeModel, question), outputTokens: null };
    });
    const task = { url: gateway.url, path: "/v1/chat/completions", requests, warmUp: 8, inFlight: null, streamed: false };
    const run = await runClient({ ...task, seconds: (at.at(-1) ?? 0) + 1 }, CLIENT_CORE);
    const { mean: average, p50, p95, p99, p95Low, p95High, failed, lateP95, requests: counted } = measuredFigures(run, [], false);
    const answered = run.answers.filter(({ status }) => status === 200);
    const right = answered.map(({ index, text = "" }) => (answerIn(text) === questions[index]?.answer ? 100 : 0));
    const escalated = mean(answered.map(({ answeredBy }) => (answeredBy === LARGE ? 1 : 0)));
    return {
      ...{ mean: average, p50, p95, p99, p95Low, p95High, quality: mean(right), escalated, chosen: null },
      ...{ requests: counted, failed, lateP95 },
      ...partsOf(
        plan,
        up.map(({ id }) => id),
      ),
    };
  } finally {
    await gateway.close();
  }
}
