import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { ControlChange, ControlFigures, LiveFrame, MeasuredChange } from "@/server/contracts/studio";
import type { PromiseQuantity } from "@/server/contracts/studio/promise";
import type { Plan, StagePrediction } from "@/solver/plan/plan";
import { policyWithOverrides } from "@/solver/policies/policyControls";
import type { Workload } from "@/solver/workload/workload";
import { notComparable, promiseWindow } from "../clusters/watch/promiseWindow";
import { measuredPromises } from "./measuredPromises";
import { plannedAcceptedScores } from "./plannedTraffic";

/** The figures that a forecast names. */
const FORECAST: readonly PromiseQuantity[] = ["quality", "accepted-score", "end-to-end", "stage-share"];

export interface ChangeMeasuring {
  /** In force. */
  readonly plan: Plan;
  readonly workload: Workload;
  readonly change: ControlChange;
  /** Newest first. */
  readonly decisions: readonly Decision[];
  readonly frame: LiveFrame;
  readonly labelOf: (decision: Decision) => number | null;
  /** Whether a plan is being applied. */
  readonly applying: boolean;
}

/** The forecast of a change of controls next to what is measured since, each figure with its verdict. */
export function measuredChange({ plan, workload, change, decisions, frame, labelOf, applying }: ChangeMeasuring): MeasuredChange {
  const forecast = change.forecast?.changed ?? null;
  const promised = asForecast(plan, change, forecast);
  const window = promiseWindow(promised, decisions, frame, Date.parse(change.at));
  const reason = changedAgain(change, frame) ?? notComparable(promised, frame, applying);
  const scores = plannedAcceptedScores(promised, workload);
  const known = forecast === null || forecast.p95Seconds === null ? [] : FORECAST;
  const rows = measuredPromises({ plan: promised, window, acceptedScores: scores, labelOf, usdPerHour: null, notComparable: reason });
  return {
    ...{ change, requests: window.counts.answered, windowSeconds: window.seconds },
    figures: known.flatMap((quantity) => rows.filter((row) => row.quantity === quantity)),
    notComparable: reason ?? unforecast(change),
  };
}

/** The routing in a frame may have been read before the change. */
const SETTLED_MS = 10_000;

const changedAgain = ({ at, hashAfter, planId }: ControlChange, { atMs, gateway: { routing } }: LiveFrame): string | null =>
  routing !== null && routing.planId === planId && routing.policyHash !== hashAfter && atMs > Date.parse(at) + SETTLED_MS
    ? "The controls were changed again since: the policy in force is not the one of this change."
    : null;

function unforecast({ forecast }: ControlChange): string | null {
  if (forecast === null) return "No forecast was made before this change.";
  if (forecast.changed.p95Seconds !== null) return null;
  return `The forecast was that the engines do not sustain ${forecast.requestsPerSecond} requests/s with these values.`;
}

/** The plan with the changed policy, and the forecast in place of its predictions. Forecasts are of the 95th percentile. */
function asForecast(plan: Plan, { to, hashAfter, forecast: made }: ControlChange, forecast: ControlFigures | null): Plan {
  const turned = policyWithOverrides(plan.policy, to);
  const policy = typeof turned === "string" ? plan.policy : turned.policy;
  const objective = { ...plan.inputs.objective, percentile: 95 };
  const changed = { ...plan, policy, policyHash: hashAfter, inputs: { ...plan.inputs, objective } };
  const { quality, qualityLow, p95Seconds, p95Band } = forecast ?? {};
  if (made === null || !forecast || quality == null || qualityLow == null || p95Seconds == null || p95Band == null) return changed;
  const { predictions } = plan;
  const stages = made.models.flatMap((model, at) => {
    const planned = predictions.stages.find((stage) => stage.model === model);
    const share = forecast.share[at];
    return planned === undefined || share === undefined ? [] : [{ ...shifted(planned, share), ...startsAt(policy.kind, share) }];
  });
  const high = Math.min(100, 2 * quality - qualityLow);
  return {
    ...changed,
    predictions: {
      ...{ ...predictions, quality, p95Seconds, stages },
      qualityBand: { ...predictions.qualityBand, low: qualityLow, high },
      p95Band: { ...predictions.p95Band, ...p95Band },
    },
  };
}

/** The stage with another share, whose band is as wide as planned. */
function shifted(planned: StagePrediction, share: number): StagePrediction {
  const { shareBand } = planned;
  const moved = share - planned.share;
  return {
    ...planned,
    share,
    ...(shareBand === undefined ? {} : { shareBand: { low: shareBand.low + moved, high: shareBand.high + moved } }),
  };
}

/** Slack dispatch starts requests at each of its models. */
const startsAt = (kind: Plan["policy"]["kind"], share: number): Pick<StagePrediction, "startShare"> =>
  kind === "slack" ? { startShare: share } : {};
