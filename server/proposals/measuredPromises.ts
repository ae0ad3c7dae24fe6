import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { PlanPromise, PromiseQuantity } from "@/server/contracts/studio/promise";
import { isScoredByJudge } from "@/solver/gates/gates";
import { MATERIAL } from "@/solver/numeric/drift";
import { mean } from "@/solver/numeric/quantile";
import { countedShare, meanInterval, quantileInterval, shareInterval } from "@/solver/workload/driftIntervals";
import { type PromiseVerdict, verdictOf } from "@/solver/workload/driftVerdict";
import { isFailed, unsettled } from "../clusters/watch/promiseWindow";
import { plannedGates, stopsEarly } from "./gateScores";
import { mixPromises } from "./mixPromises";
import { ENOUGH, type Measuring, type PromiseDraft } from "./promiseDraft";

/** A share of requests may differ by this much at least. */
const SHARE_ALLOWED = 0.03;

/** Costs may differ by this factor: that of a rate that matters to a plan. */
const COST_ALLOWED = Math.exp(MATERIAL.rate);

/** Of plans made before stages had bands. */
const WITHOUT_BAND = 0.15;

/** What people read of a quantity, with the percentile that the plan is made for. */
const names: Readonly<Record<PromiseQuantity, (percentile: number, of: string, dispatched: boolean) => string>> = {
  "end-to-end": (percentile) => `p${percentile} end to end`,
  "class-latency": (percentile, name) => `p${percentile} of ${name}`,
  quality: (_, name) => (name === "" ? "quality" : `quality of ${name}`),
  "accepted-score": () => "score of accepted answers",
  "stage-share": (_, model, dispatched) => `share ${dispatched ? "answered by" : "reaching"} ${model}`,
  "stage-latency": (percentile, model) => `p${percentile} of ${model}`,
  utilisation: (_, model) => `utilisation of ${model}`,
  "failed-share": () => "failed requests",
  "cost-per-hour": () => "cost per hour",
  "cost-per-request": () => "cost per request",
};

/** Of all requests: some fail on any day. */
const FAILED_ALLOWED = 0.01;

/** The promises of a plan, each with its measurement and whether the measurement confirms it. */
export function measuredPromises(measuring: Measuring): readonly PlanPromise[] {
  const { plan, window, notComparable } = measuring;
  const unsettledSays = unsettled(window, plan);
  const traffic = mixPromises(measuring) ?? trafficRows(measuring);
  return [...traffic, ...serviceRows(measuring), ...costRows(measuring)].map((row) => {
    const { quantity, model = null, className, kind, promised, band, measured, enough, excused, counted } = row;
    const name = names[quantity](plan.inputs.objective.percentile, className ?? model ?? "", plan.policy.kind === "slack");
    const basis = counted === undefined ? row.basis : `${counted}; ${row.basis}`;
    // Where nothing was answered no answer is still to come that would lower the share of failures.
    const early = counted !== undefined && window.answered.length === 0 && window.seen.length > 0 ? null : unsettledSays;
    const own = verdictOf(measured, band, enough);
    const excuse = notComparable ?? (early === null && own === "broken" ? excused : undefined);
    const verdict: PromiseVerdict = excuse !== undefined ? "not comparable" : early !== null ? "too little measured" : own;
    const few =
      measured === null
        ? "nothing was seen of it"
        : measured.count < enough.kept
          ? `${measured.count} of ${enough.kept} values`
          : "it may be sampling error";
    return {
      ...{ quantity, model, name, kind, promised, verdict },
      band: { low: band.low, high: band.high },
      measured: measured?.value ?? null,
      interval:
        measured === null || counted !== undefined || !Number.isFinite(measured.high) || measured.high === measured.low
          ? null
          : { low: measured.low, high: measured.high },
      reason: excuse ?? (verdict === "too little measured" ? `${early ?? few}; ${basis}` : basis),
    };
  });
}

function trafficRows(measuring: Measuring): PromiseDraft[] {
  const { plan, window } = measuring;
  const { predictions, inputs } = plan;
  const { answered } = window;
  const q = inputs.objective.percentile / 100;
  const percentile = (values: readonly number[]) => ({ measured: quantileInterval(values, q), enough: ENOUGH.percentile });
  const stages = predictions.stages.flatMap((stage): PromiseDraft[] => {
    const { model, share, shareBand, p95Seconds, bands } = stage;
    // The prompts of the day are another sample than those planned on: the errors of both add in squares.
    const half = Math.max(SHARE_ALLOWED, Math.SQRT2 * Math.max(share - (shareBand?.low ?? share), (shareBand?.high ?? share) - share));
    const band = { low: Math.max(0, share - half), high: Math.min(1, share + half) };
    const reached = answered.map(({ stages: visits }) => (visits.some((visit) => visit.model === model) ? 1 : 0));
    const span = bands?.p95Seconds ?? { low: p95Seconds * (1 - WITHOUT_BAND), high: p95Seconds * (1 + WITHOUT_BAND) };
    const seconds = visitsOf(answered, model).map((visit) => visit.queueSeconds + visit.seconds);
    return [
      // All requests start at the first stage by default.
      ...(stage === predictions.stages[0] && stage.startShare === undefined
        ? []
        : [
            {
              ...{
                quantity: "stage-share" as const,
                model,
                kind: "share" as const,
                promised: share,
                measured: shareInterval(reached),
                enough: ENOUGH.mean,
              },
              band: { ...band, better: "neither" as const },
              basis: `what another sample of as many prompts may show, ${100 * SHARE_ALLOWED} points at least`,
            },
          ]),
      // Of a single stage that is the end-to-end latency.
      ...(predictions.stages.length === 1
        ? []
        : [
            {
              ...{ quantity: "stage-latency" as const, model, kind: "seconds" as const, promised: p95Seconds, ...percentile(seconds) },
              band: { ...span, better: "lower" as const },
              basis: bands === undefined ? `no band was planned: ${100 * WITHOUT_BAND} % are allowed` : "queue and engine; band as planned",
            },
          ]),
    ];
  });
  return [
    {
      ...{ quantity: "end-to-end" as const, kind: "seconds" as const, promised: predictions.p95Seconds },
      ...percentile(answered.map(({ endToEndSeconds }) => endToEndSeconds)),
      band: { ...predictions.p95Band, better: "lower" },
      basis: `band at ${Math.round(100 * predictions.p95Band.confidence)} %`,
    },
    ...qualityRow(measuring),
    ...stages,
  ];
}

/** Labels if they are known; otherwise the scores of the plan's gates. */
function qualityRow({ plan, window: { answered }, labelOf, acceptedScores }: Measuring): PromiseDraft[] {
  const { predictions } = plan;
  const labels = answered.flatMap((decision) => labelOf(decision) ?? []);
  if (labels.length >= ENOUGH.mean.kept || acceptedScores.length === 0)
    return [
      {
        ...{ quantity: "quality", kind: "score", promised: predictions.quality, measured: meanInterval(labels), enough: ENOUGH.mean },
        band: { low: predictions.qualityBand.low, high: predictions.qualityBand.high, better: "higher" },
        basis:
          labels.length === 0
            ? "no label of an answer is known, and no score that could be compared"
            : `${labels.length} labels of answers`,
      },
    ];
  const promised = mean(acceptedScores);
  const gates = plannedGates(plan);
  const seen = answered.flatMap(({ stages }) => {
    const last = stages.at(-1);
    if (last?.verdict !== "accepted" || last.judgedScore === null) return [];
    const { kind } = gates.get(last.model)?.document ?? { kind: "judge" };
    return (last.gate?.kind ?? "judge") !== kind || stopsEarly({ kind }) ? [] : [last.judgedScore];
  });
  return [
    {
      ...{ quantity: "accepted-score", kind: "score", promised, measured: meanInterval(seen), enough: ENOUGH.mean },
      band: { low: promised - MATERIAL.score, high: promised + MATERIAL.score, better: "higher" },
      basis: `no labels are known here, so quality is not measured: this is what the plan's gates say; ${MATERIAL.score} points are allowed`,
    },
  ];
}

/** How busy engines are, by the plan's own measure of that, and how many requests go wrong. */
function serviceRows({ plan, window }: Measuring): PromiseDraft[] {
  const { requestsPerSecond: rate, answered, seen } = window;
  const planned = plan.inputs.workload.requestsPerSecond;
  const ended = seen.filter((decision) => decision.status < 400 || isFailed(decision));
  const failures = ended.filter(isFailed).length;
  const busy = plan.predictions.stages.flatMap(({ model, requestsPerSecond, utilisation }): PromiseDraft[] => {
    const reached = shareInterval(answered.map(({ stages }) => (stages.some((visit) => visit.model === model) ? 1 : 0)));
    if (!(requestsPerSecond > 0)) return [];
    const of = (perSecond: number, share: number): number => (utilisation * perSecond * share) / requestsPerSecond;
    const measured =
      rate === null || reached === null
        ? null
        : {
            ...{ value: of(rate.value, reached.value), low: of(rate.low, reached.low), high: of(rate.high, reached.high) },
            count: Math.min(rate.count, reached.count),
          };
    return [
      {
        ...{ quantity: "utilisation", model, kind: "share", promised: utilisation, measured, enough: ENOUGH.mean },
        band: { low: 0, high: utilisation * COST_ALLOWED, better: "lower" },
        basis: "requests that reached it, over the rate at which the plan has its engines saturate; 15 % are allowed",
        ...(rate !== null && rate.value > planned
          ? { excused: `the rate explains it: ${rate.value.toFixed(1)}/s came and ${planned}/s were planned` }
          : {}),
      },
    ];
  });
  return [
    ...busy,
    {
      ...{
        quantity: "failed-share",
        kind: "share",
        promised: 0,
        measured: countedShare(ended.map((one) => (isFailed(one) ? 1 : 0))),
        enough: ENOUGH.failures,
      },
      band: { low: 0, high: FAILED_ALLOWED, better: "lower" },
      basis: `rejected or not answered, not counting clients that left; ${100 * FAILED_ALLOWED} % is allowed`,
      ...(failures === 0 ? {} : { counted: `${failures} of ${ended.length} requests failed` }),
    },
  ];
}

function costRows({ plan, window, usdPerHour }: Measuring): PromiseDraft[] {
  const { costUsdPerHour, costUsdPerRequest } = plan.predictions;
  const { requestsPerSecond: rate, answered } = window;
  const atMost = (promised: number) => ({ low: 0, high: promised * COST_ALLOWED, better: "lower" as const });
  const held = usdPerHour === null ? null : { value: usdPerHour, low: usdPerHour, high: usdPerHour, count: ENOUGH.mean.kept };
  const judge = plan.policy.kind === "cascade" ? plan.policy.judge.usdPerCall : 0;
  const judged = mean(answered.map(({ stages }) => stages.filter(isScoredByJudge).length)) * judge;
  const each = (perSecond: number): number => (perSecond > 0 ? (usdPerHour ?? 0) / 3600 / perSecond : Number.POSITIVE_INFINITY) + judged;
  const planned = plan.inputs.workload.requestsPerSecond;
  // Nights are quiet: GPUs at the promised cost are then spread over fewer requests, which the promise does not cover.
  const byRate =
    rate !== null && usdPerHour !== null && usdPerHour <= atMost(costUsdPerHour).high && each(planned) <= atMost(costUsdPerRequest).high;
  const excused = byRate
    ? {
        excused: `the rate explains it: ${rate.value.toFixed(1)}/s came, ${planned}/s were planned, and at that rate a request would cost what was promised`,
      }
    : {};
  return [
    {
      ...{
        quantity: "cost-per-hour",
        kind: "usd",
        promised: costUsdPerHour,
        measured: held,
        enough: ENOUGH.mean,
        band: atMost(costUsdPerHour),
      },
      basis:
        usdPerHour === null ? "GPUs held, or their price, are not known" : "GPUs that engines hold, times their price; 15 % are allowed",
    },
    {
      ...{ quantity: "cost-per-request", kind: "usd", promised: costUsdPerRequest, enough: ENOUGH.mean, band: atMost(costUsdPerRequest) },
      measured:
        rate === null || usdPerHour === null
          ? null
          : { value: each(rate.value), low: each(rate.high), high: each(rate.low), count: rate.count },
      basis: "GPUs held times their price, over the requests that came; 15 % are allowed",
      ...excused,
    },
  ];
}

/** The last visit that answered, of each request that reached a model. */
export const visitsOf = (answered: readonly Decision[], model: string): Decision["stages"] =>
  answered.flatMap(({ stages }) => stages.findLast((stage) => stage.model === model && stage.verdict !== "failed") ?? []);
