import type { OutgoingHttpHeaders } from "node:http";
import type { TokenBucket } from "../http/callers";
import type { LimitState } from "./keyBudget";

/** Headers in which clients of OpenAI read the rest of a rate of requests. @param nowMs on the clock of the bucket. */
export function requestRateHeaders(bucket: TokenBucket, nowMs: number): OutgoingHttpHeaders {
  const { rest, fullInSeconds } = bucket.state(nowMs);
  return {
    "x-ratelimit-limit-requests": bucket.perMinute,
    "x-ratelimit-remaining-requests": rest,
    "x-ratelimit-reset-requests": durationText(fullInSeconds),
  };
}

/**
 * Those of the limit of tokens with the smallest rest, and in `x-weir-budget-warning` the share that is used of limits close to their end.
 * @param nowMs Unix milliseconds.
 */
export function limitHeaders(states: readonly LimitState[], nowMs: number): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {};
  const counted = states.filter(({ unit }) => unit === "tokens").map((state) => ({ ...state, rest: restOf(state) }));
  if (counted.length > 0) {
    const { most, rest, resetsAtMs } = counted.reduce((least, state) => (state.rest < least.rest ? state : least));
    headers["x-ratelimit-limit-tokens"] = most;
    headers["x-ratelimit-remaining-tokens"] = rest;
    headers["x-ratelimit-reset-tokens"] = durationText((resetsAtMs - nowMs) / 1000);
  }
  const near = states.filter(({ isNear }) => isNear);
  if (near.length > 0)
    headers["x-weir-budget-warning"] = near.map(({ name, used, most }) => `${name}=${(used / most).toFixed(2)}`).join(",");
  return headers;
}

const restOf = ({ most, used, reserved }: LimitState): number => Math.max(0, most - used - reserved);

/** Seconds as OpenAI's API writes them: `1h2m3s`, `6m0s`, `20ms`. */
export function durationText(seconds: number): string {
  if (seconds <= 0) return "0s";
  if (seconds < 1) return `${Math.ceil(seconds * 1000)}ms`;
  const whole = Math.ceil(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return `${hours > 0 ? `${hours}h` : ""}${hours > 0 || minutes > 0 ? `${minutes}m` : ""}${whole % 60}s`;
}
