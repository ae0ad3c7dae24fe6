import { PLANNED_LOAD } from "./plannedLoad";

/** Seconds as sentences give them. */
export const secondsText = (value: number): string => `${value < 10 ? value.toFixed(2) : value.toFixed(1)} s`;

/** A count with its noun, which gets an s unless there is exactly one. */
export const counted = (count: number, noun: string): string => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** A rate of requests as sentences give it. */
export const rateText = (requestsPerSecond: number): string => `${counted(requestsPerSecond, "request")}/s`;

/** The load of the busiest stage, as a share of its rate at saturation, and what it means for a plan. */
export function loadSays(load: number): string {
  if (load > 1) return "unstable: does not keep up";
  const percent = `${Math.round(100 * load)} %`;
  return load > PLANNED_LOAD ? `${percent}: over the ${100 * PLANNED_LOAD} % that is planned for` : percent;
}

/** A lower bound of quality as sentences give it: never more than is held. */
export const boundText = (quality: number): string => (Math.floor(10 * quality) / 10).toFixed(1);

/** A cost as sentences give it: one request's is too small to read. */
export const usdText = (usdPerRequest: number): string => `${(1000 * usdPerRequest).toPrecision(3)} USD per 1,000 requests`;
