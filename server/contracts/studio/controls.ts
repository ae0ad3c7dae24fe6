import type { ControlValues } from "@/solver/policies/policyControls";
import type { PlanPromise } from "./promise";

/** What a policy gives on the engines that serve, simulated. Seconds are engine seconds. */
export interface ControlFigures {
  /** Requests per second that the engines sustain; null where a model that requests reach has no engine. */
  readonly capacityPerSecond: number | null;
  /** Mean label of the answers, 0..100, and its lower bound at the plan's confidence; null where the load is not sustained. */
  readonly quality: number | null;
  readonly qualityLow: number | null;
  readonly p95Seconds: number | null;
  /** The p95 within the relative band of the plan's own; null where there is no p95. */
  readonly p95Band: { readonly low: number; readonly high: number } | null;
  /** Share that reaches each stage, or that each model of slack dispatch answers; empty where the load is not sustained. */
  readonly share: readonly number[];
}

/** The effect of a change of controls before it is made: the policy in force and the changed one, on the same engines at the same rate. */
export interface ControlsForecast {
  /** Per engine second. */
  readonly requestsPerSecond: number;
  /** The source of the rate and the engines, in sentences. */
  readonly basis: string;
  /** Models of the shares. */
  readonly models: readonly string[];
  readonly inForce: ControlFigures;
  readonly changed: ControlFigures;
}

/** A change of the controls of a policy in force, with the forecast that was shown before it. */
export interface ControlChange {
  readonly clusterId: string;
  readonly at: string;
  readonly actor: string;
  readonly reason: string;
  readonly planId: string;
  /** Hashes of the policy before and after. */
  readonly hashBefore: string;
  readonly hashAfter: string;
  readonly from: ControlValues;
  readonly to: ControlValues;
  /** null: none was made. */
  readonly forecast: ControlsForecast | null;
}

/** The last change of the plan in force, with what is measured since. */
export interface MeasuredChange {
  readonly change: ControlChange;
  /** Answered requests under the changed policy, and the engine seconds since. */
  readonly requests: number;
  readonly windowSeconds: number;
  /** Forecast and measured; empty where nothing was forecast. */
  readonly figures: readonly PlanPromise[];
  /** Why nothing is compared, in one sentence; null if it is. */
  readonly notComparable: string | null;
}
