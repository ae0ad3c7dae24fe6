import type { BrokenPromise, PlanInput, PlanPromise, PromiseQuantity } from "@/server/contracts/studio/promise";
import type { PredictedAsItRuns } from "@/server/planning/planner/asItRuns";
import type { Plan, Predictions } from "@/solver/plan/plan";
import { secondsText } from "@/solver/wording/wording";
import { causeOf, type InputGroup, type ReplacedInputs, type ReplacedOutcome } from "@/solver/workload/driftCause";
import { meanInterval } from "@/solver/workload/driftIntervals";
import type { PromiseWindow } from "../clusters/watch/promiseWindow";
import { visitsOf } from "./measuredPromises";

/** The plan with inputs that moved as they are measured. */
export interface UnderMeasured {
  readonly alone: readonly { readonly inputs: Exclude<InputGroup, "all">; readonly predicted: PredictedAsItRuns }[];
  /** With all of them; where only one moved the same, and where none did the plan's own. */
  readonly all: PredictedAsItRuns;
}

export interface Broken {
  readonly plan: Plan;
  readonly window: PromiseWindow;
  readonly promises: readonly PlanPromise[];
  readonly inputs: readonly PlanInput[];
  /** null: not simulated yet. */
  readonly under: UnderMeasured | null;
}

export const changedOf = (inputs: readonly PlanInput[]): readonly PlanInput[] =>
  inputs.filter(({ state }) => state === "drifted" || state === "moved");

/** Whether the planner has to simulate the plan to tell why a promise is broken: costs follow from the rate, scores of gates and failed requests from themselves. */
export const needsSimulation = ({ quantity, verdict }: PlanPromise): boolean => verdict === "broken" && !withoutSimulation.has(quantity);

const withoutSimulation: ReadonlySet<PromiseQuantity> = new Set(["cost-per-hour", "cost-per-request", "accepted-score", "failed-share"]);

/** Of each broken promise where it comes from. */
export function explainBroken(broken: Broken): readonly BrokenPromise[] {
  return broken.promises
    .filter(({ verdict, measured }) => verdict === "broken" && measured !== null)
    .map((promise) => explain(promise, promise.measured ?? 0, broken));
}

function explain(promise: PlanPromise, measured: number, broken: Broken): BrokenPromise {
  const { plan, inputs, under } = broken;
  const { quantity, name, kind, promised } = promise;
  const text = texts[kind];
  const band = promise.band ?? { low: promised, high: promised };
  const within = kind === "usd" ? `up to ${text(band.high)}` : `${text(band.low)} to ${text(band.high)}`;
  const limit = measured > promised ? band.high : band.low;
  const question = { name: sentenceStart(quantity, name), promised, measured, limit, within, text };
  if (needsSimulation(promise) && under === null) {
    const says = `${question.name} is ${text(measured)}, promised ${text(promised)} (${within}). The planner simulates the plan under what is measured.`;
    return { promise: name, replaced: [], says, slowEngines: false };
  }
  const slow = kind === "seconds" ? slowEngines(broken) : [];
  const besides = [...slow, ...(kind === "seconds" ? waiting(broken) : []), ...scores(promise, inputs)];
  // Missing or slow engines are separated from traffic; what is not simulated follows from the rate alone.
  const moved = changedOf(inputs).flatMap(({ name: input, kind: of }) =>
    of === "rate" || (needsSimulation(promise) && (of === "tokens" || of === "score")) ? [input] : [],
  );
  const cause = causeOf({ ...question, moved, ...replacedOf(promise, broken), known: missingEngines(inputs), besides });
  return {
    promise: name,
    replaced: cause.replaced,
    says: cause.says,
    slowEngines: slow.length > 0 && !cause.explained && plan.policy.kind === "cascade",
  };
}

/** A percentile is written small. */
const sentenceStart = (quantity: PromiseQuantity, name: string): string =>
  quantity === "end-to-end" || quantity === "stage-latency" ? name : name.charAt(0).toUpperCase() + name.slice(1);

const texts: Readonly<Record<PlanPromise["kind"], (value: number) => string>> = {
  seconds: secondsText,
  score: (value) => value.toFixed(1),
  share: (value) => `${(100 * value).toFixed(0)} %`,
  usd: (value) => `$${value >= 1 ? value.toFixed(2) : value.toPrecision(3)}`,
};

function replacedOf(
  promise: PlanPromise,
  { plan, inputs, under }: Broken,
): { readonly alone: readonly ReplacedInputs[]; readonly together: ReplacedInputs | null } {
  if (promise.quantity === "cost-per-request") {
    const rate = changedOf(inputs).find(({ kind }) => kind === "rate")?.now ?? null;
    const { costUsdPerHour, costUsdPerRequest } = plan.predictions;
    const judged = costUsdPerRequest - costUsdPerHour / 3600 / plan.inputs.workload.requestsPerSecond;
    const value = rate === null ? null : costUsdPerHour / 3600 / rate + judged;
    const alone = value === null ? [] : [{ inputs: "rate" as const, outcome: { kind: "predicted" as const, value }, better: false }];
    return { alone, together: null };
  }
  if (under === null || !needsSimulation(promise)) return { alone: [], together: null };
  const figure = figureOf(plan, promise);
  const outcomeOf = (predicted: PredictedAsItRuns): ReplacedOutcome => {
    // Queues that grow without bound have a latency; shares, quality and utilisation are then unknown.
    if (predicted.kind === "overloaded" && promise.kind !== "seconds")
      return { kind: "not-evaluated", because: "the plan is overloaded then, and only its latencies follow from that" };
    if (predicted.kind !== "predicted") return predicted;
    const value = figure(predicted.predictions);
    return value === null
      ? { kind: "not-evaluated", because: `the plan as simulated has no ${promise.name}` }
      : { kind: "predicted", value };
  };
  const alone = under.alone.map(
    ({ inputs: group, predicted }): ReplacedInputs => ({
      inputs: group,
      outcome: outcomeOf(predicted),
      better: canOnlyImprove(promise, group, inputs),
    }),
  );
  const together: ReplacedInputs = { inputs: "all", outcome: outcomeOf(under.all), better: alone.every(({ better }) => better) };
  return { alone, together: alone.length > 1 ? together : null };
}

/**
 * Whether the measured change of a group can only shorten latencies: fewer requests, shorter ones, a faster judge. Higher scores are
 * excluded, since they escalate fewer requests, and the effect on a stage depends on which.
 */
function canOnlyImprove({ kind }: PlanPromise, group: InputGroup, inputs: readonly PlanInput[]): boolean {
  if (kind !== "seconds") return false;
  const own = changedOf(inputs).filter((input) => {
    if (group === "judge-time") return input.kind === "judge-time";
    return group === "rate" ? input.kind === "rate" : group === "lengths" && input.kind === "tokens";
  });
  return own.length > 0 && own.every(({ now, planned }) => now !== null && now < planned);
}

/** Reads the figure of a promise from predictions; null if it is missing there. */
function figureOf(plan: Plan, { quantity, model }: PlanPromise): (predictions: Predictions) => number | null {
  if (quantity === "end-to-end") return ({ p95Seconds }) => p95Seconds;
  if (quantity === "quality") return ({ quality }) => quality;
  return ({ stages }) => {
    const stage = stages.find((each) => each.model === model);
    if (quantity === "stage-latency") return stage?.p95Seconds ?? null;
    if (quantity !== "stage-share" && quantity !== "utilisation") return null;
    // A stage that no request reaches under this traffic is missing from the prediction.
    if (stage === undefined) return plan.predictions.stages.some((each) => each.model === model) ? 0 : null;
    return quantity === "utilisation" ? stage.utilisation : stage.share;
  };
}

function missingEngines(inputs: readonly PlanInput[]): string[] {
  return inputs
    .filter(({ kind, now, planned }) => kind === "engines" && now !== null && now < planned)
    .map(({ name, now, planned }) => `Of the ${name} there are ${now} of ${planned}.`);
}

/** Stages with their predictions under this traffic, and the measurements. */
function stagesOf({ plan, under, window }: Broken) {
  const predictions = under === null ? plan.predictions : under.all.kind === "predicted" ? under.all.predictions : null;
  return (predictions?.stages ?? []).flatMap(({ model, meanSeconds, bands }) => {
    const visits = visitsOf(window.answered, model);
    const engine = meanInterval(visits.map(({ seconds }) => seconds));
    const whole = meanInterval(visits.map(({ queueSeconds, seconds }) => queueSeconds + seconds));
    const span = bands?.meanSeconds ?? null;
    return engine === null || whole === null || span === null ? [] : [{ model, meanSeconds, span, engine, whole }];
  });
}

/** Engines alone take longer than queue and engine together were predicted to, beyond the band: then no queue is to blame. */
function slowEngines(broken: Broken): string[] {
  return stagesOf(broken)
    .filter(({ engine, span }) => engine.low > span.high)
    .map(
      ({ model, meanSeconds, span, engine }) =>
        `Engines of ${model} take ${secondsText(engine.value)} on average where ${secondsText(meanSeconds)} (${secondsText(span.low)} to ${secondsText(span.high)}) is predicted under this traffic, waiting included: they are slower than calibrated.`,
    );
}

function waiting(broken: Broken): string[] {
  const judged = changedOf(broken.inputs).filter(
    ({ kind, now, planned }) => kind === "judge-time" && (now ?? 0) > planned && broken.plan.predictions.judge !== undefined,
  );
  return [
    ...stagesOf(broken)
      .filter(({ engine, whole, span }) => whole.low > span.high && engine.low <= span.high)
      .map(
        ({ model, engine, whole }) =>
          `Requests wait ${secondsText(whole.value - engine.value)} for ${model} on average, more than is predicted, while its engines are not known to be slow: arrivals may come in bursts.`,
      ),
    ...judged.map(({ now, planned }) => `A judgement takes ${secondsText(now ?? 0)} where ${secondsText(planned)} is predicted.`),
  ];
}

/** Scores explain the figures derived from them. */
function scores({ quantity }: PlanPromise, inputs: readonly PlanInput[]): string[] {
  if (quantity !== "accepted-score") return [];
  return changedOf(inputs)
    .filter(({ kind }) => kind === "score")
    .map((input) => `The ${input.name} is ${input.now?.toFixed(1)} on average where ${input.planned.toFixed(1)} was planned.`);
}
