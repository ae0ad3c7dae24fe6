import type { Knobs } from "@/solver/cascade/explore/exploration";
import { dispatchPoints } from "@/solver/dispatch/chooseDispatch";
import type { DispatchExploration, DispatchPoint } from "@/solver/dispatch/dispatchExploration";
import type { PolicyChoice } from "@/solver/plan/planSlack";
import { estimateOf } from "../planning/recommend";
import { type FrontierPlan, figuresOf } from "./frontierPlans";

/** The key of slack dispatch on one allocation at one tau: no pin's, because it has two stars. */
export const dispatchKey = ({ allocation, tau }: { readonly allocation: number | string; readonly tau: number }): string =>
  `slack*${allocation}*${tau}`;

/** What a key of slack dispatch names; null for any other key. */
export function parseDispatchKey(key: string): Pick<DispatchPoint, "allocation" | "tau"> | null {
  const [kind, allocation, tau, ...rest] = key.split("*");
  const named = { allocation: Number(allocation), tau: Number(tau) };
  return kind === "slack" && tau !== undefined && rest.length === 0 && Number.isInteger(named.allocation) && Number.isFinite(named.tau)
    ? named
    : null;
}

/**
 * Slack dispatch as plans on the frontier: every allocation within the GPUs at every tau that was simulated, and the chosen point where its
 * tau lies between two of them. The curve is that of the chosen allocation, or, where none meets the objective, of the one that reaches the
 * highest quality.
 */
export function dispatchPlans(input: {
  readonly exploration: DispatchExploration;
  readonly chosen: DispatchPoint | null;
  readonly knobs: Pick<Knobs, "maxGpus" | "latency" | "qualityConfidence">;
  readonly policy: PolicyChoice;
}): readonly FrontierPlan[] {
  const { exploration, chosen, knobs, policy } = input;
  const within = dispatchPoints(exploration, knobs, null);
  const onCurve = chosen?.allocation ?? best(within)?.allocation;
  const isKnown = within.some(({ allocation, tau }) => allocation === chosen?.allocation && tau === chosen.tau);
  return [...within, ...(chosen === null || isKnown ? [] : [chosen])].map((point) => {
    const candidate = estimateOf(exploration, point);
    const models = (exploration.allocations[point.allocation]?.models ?? []).map((model) => exploration.models[model] ?? "?");
    return {
      key: dispatchKey(point),
      figures: figuresOf(candidate, knobs),
      standAloneModel: null,
      dispatch: { tau: point.tau, onCurve: point.allocation === onCurve },
      asked: policy === "any" || policy === "slack",
      policy: { kind: "slack", models, tau: point.tau },
      candidate,
    };
  });
}

const best = (points: readonly DispatchPoint[]): DispatchPoint | undefined =>
  points.reduce<DispatchPoint | undefined>(
    (found, point) => (found === undefined || point.qualityLow > found.qualityLow ? point : found),
    undefined,
  );
