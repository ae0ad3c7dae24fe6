import type { LiveFrame, TrafficGauge } from "@/server/contracts/studio";
import type { PlanInput } from "@/server/contracts/studio/promise";
import { MATERIAL } from "@/solver/numeric/drift";
import type { Plan } from "@/solver/plan/plan";
import { runningReplicas } from "@/solver/plan/runningReplicas";
import { type MeasuredFigure, meanInterval } from "@/solver/workload/driftIntervals";
import type { PromiseWindow } from "../clusters/watch/promiseWindow";
import { visitsOf } from "./measuredPromises";
import { observedRequests, trafficWindow } from "./observedRequests";
import type { PlanTraffic } from "./planTraffic";

/** Minimum number of values for deciding whether a mean has moved. */
const ENOUGH = 50;

const judgeTimeName = "time of a judgement";
const paceName = (model: string): string => `time per output token of ${model}`;
const enginesName = (model: string): string => `engines of ${model} that serve`;

/**
 * The inputs on which a plan's promises depend, as planned and as measured in the window; the test of drift gives the distances of the
 * whole distributions.
 */
export function planInputs(
  { plan, scores }: Pick<PlanTraffic, "plan" | "scores">,
  gauges: readonly TrafficGauge[],
  { window, frame }: { readonly window: PromiseWindow; readonly frame: LiveFrame },
): readonly PlanInput[] {
  const { samples } = trafficWindow(observedRequests(window.seen, frame.timeScale, scores), window.seconds);
  const traffic = gauges.map(({ name, kind, planned, now, level, drifted }): PlanInput => {
    const seen = kind === "rate" ? window.requestsPerSecond : meanInterval(samples[name] ?? []);
    const shown = seen !== null && seen.count >= ENOUGH ? seen.value : now;
    return { name, kind, planned, now: shown, level, state: drifted ? "drifted" : testedState(stateOf(kind, planned, seen), level) };
  });
  return [...traffic, ...judgeTime(plan, window), ...paces(plan, gauges, window), ...engines(plan, frame)];
}

/** If the window has too few values, the test of drift may decide from earlier ones. */
function testedState(state: PlanInput["state"], level: number | null): PlanInput["state"] {
  if (state !== "too little seen" || level === null) return state;
  return level < 1 ? "as planned" : "moved";
}

function stateOf(kind: "rate" | "tokens" | "score" | "seconds", planned: number, seen: MeasuredFigure | null): PlanInput["state"] {
  if (seen === null || seen.count < ENOUGH) return "too little seen";
  const material = kind === "score" ? MATERIAL.score : planned * (Math.exp(MATERIAL.rate) - 1);
  if (Math.abs(seen.value - planned) <= material) return "as planned";
  return seen.low > planned + material || seen.high < planned - material ? "moved" : "too little seen";
}

function judgeTime({ policy, predictions }: Plan, { answered }: PromiseWindow): PlanInput[] {
  if (policy.kind !== "cascade" || policy.thresholds.length === 0) return [];
  const planned = predictions.judge?.meanSeconds ?? policy.judge.secondsPerCall;
  const seen = meanInterval(answered.flatMap(({ stages }) => stages.flatMap(({ judgeSeconds }) => judgeSeconds ?? [])));
  return [
    { name: judgeTimeName, kind: "judge-time", planned, now: seen?.value ?? null, level: null, state: stateOf("seconds", planned, seen) },
  ];
}

/** Time in queue and engine per written token: it measures the engines' speed whatever the lengths, but not whatever the load. */
function paces({ predictions }: Plan, gauges: readonly TrafficGauge[], { answered }: PromiseWindow): PlanInput[] {
  return predictions.stages.flatMap(({ model, meanSeconds }): PlanInput[] => {
    const tokens = gauges.find((gauge) => gauge.kind === "tokens" && gauge.model === model)?.planned ?? 0;
    if (!(tokens > 0)) return [];
    const visits = visitsOf(answered, model).filter(({ outputTokens }) => (outputTokens ?? 0) > 0);
    const written = meanInterval(visits.map(({ outputTokens }) => outputTokens ?? 0))?.value ?? 1;
    const took = meanInterval(visits.map(({ queueSeconds, seconds }) => queueSeconds + seconds));
    const pace =
      took === null ? null : { value: took.value / written, low: took.low / written, high: took.high / written, count: took.count };
    const planned = meanSeconds / tokens;
    return [
      {
        name: paceName(model),
        kind: "token-time",
        planned,
        now: pace?.value ?? null,
        level: null,
        state: stateOf("seconds", planned, pace),
      },
    ];
  });
}

/** Counted, so that a missing one is reported at once; null while the gateway does not report for each whether it serves. */
function engines(plan: Plan, frame: LiveFrame): PlanInput[] {
  const planned = new Map<string, number>();
  for (const { model } of runningReplicas(plan)) planned.set(model, (planned.get(model) ?? 0) + 1);
  const known = frame.engines.length > 0 && frame.engines.every(({ health }) => health !== "unknown");
  return [...planned].map(([model, count]) => {
    const now = known ? frame.engines.filter((engine) => engine.model === model && engine.health === "serving").length : null;
    const state = now === null ? "too little seen" : now === count ? "as planned" : "moved";
    return { name: enginesName(model), kind: "engines", planned: count, now, level: null, state };
  });
}
