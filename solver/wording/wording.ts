import { PLANNED_LOAD } from "../engine/plannedLoad";

/** Times from here on are worded in seconds: hundredths of a second are too coarse for shorter ones. */
const LEAST_SECONDS = 0.1;

/** Seconds in the form of sentences: `4.3 ms`, `31 ms`, `1.24 s`, `14.3 s`. */
export function secondsText(value: number): string {
  const ms = 1000 * value;
  if (Math.abs(value) < LEAST_SECONDS) return `${Math.abs(ms) < 10 ? Number(ms.toPrecision(2)) : Math.round(ms)} ms`;
  return `${value < 10 ? value.toFixed(2) : value.toFixed(1)} s`;
}

/** Seconds of a setting, or offered for one, exactly as given. */
export const exactSecondsText = (value: number): string =>
  value < LEAST_SECONDS ? `${Number((1000 * value).toPrecision(6))} ms` : `${value} s`;

const threeDigits = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3, useGrouping: false });

/** A number to three significant digits, never with an exponent: `0.0123`, `2.5`, `1230`. */
export const significantText = (value: number): string => threeDigits.format(value);

/** A share as a whole number of per cent: `37 %`. */
export const wholePercent = (share: number): string => `${Math.round(100 * share)} %`;

/** A count with its noun, which gets an s unless there is exactly one. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** A rate of requests in the form of sentences. */
export const rateText = (requestsPerSecond: number): string => `${counted(requestsPerSecond, "request")}/s`;

/** The load of the busiest stage, as a share of its rate at saturation, and its meaning for a plan. */
export function loadSays(load: number): string {
  if (load > 1) return "unstable: overloaded";
  const percent = wholePercent(load);
  return load > PLANNED_LOAD ? `${percent}: over the ${100 * PLANNED_LOAD} % that is planned for` : percent;
}

/** A lower bound of quality in the form of sentences: never rounded up. */
export const boundText = (quality: number): string => (Math.floor(10 * quality) / 10).toFixed(1);

/** A cost in the form of sentences: that of one request is too small to read. */
export const usdText = (usdPerRequest: number): string => `${(1000 * usdPerRequest).toPrecision(3)} USD per 1,000 requests`;

/** A plan's models in a line: `8b <84→ 70b` of a cascade, `8b, 70b` where a policy chooses between them. */
export function cascadeText({
  stages,
  thresholds,
}: {
  readonly stages: readonly string[];
  readonly thresholds: readonly number[];
}): string {
  if (thresholds.length === 0) return stages.join(", ");
  return stages.map((stage, at) => (at < thresholds.length ? `${stage} <${thresholds[at]}→ ` : stage)).join("");
}

/** Prices of models' tokens in words: `small 0.21 ms and large 3.4 ms a token while 0.1 and 1.2 requests wait`. */
export function tokenPriceText(
  models: readonly { readonly model: string; readonly secondsPerToken: number; readonly waiting: number }[],
): string {
  const three = (value: number): string => `${Number(value.toPrecision(3))}`;
  const prices = models.map(({ model, secondsPerToken }) => `${model} ${three(1000 * secondsPerToken)} ms`);
  return `${prices.join(" and ")} a token while ${models.map(({ waiting }) => three(waiting)).join(" and ")} requests wait`;
}
