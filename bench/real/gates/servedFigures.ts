import { mean, quantile } from "@/solver/numeric/quantile";
import type { SeedPair } from "../../lib/bySeed";
import { roles } from "./coreUse";
import { LARGE_ALONE, SMALL_ALONE } from "./servedGates";
import type { ServedSlice } from "./servedRuns";

/** Figures of a policy over some of its slices; seconds, shares 0..1. */
export interface ServedFigures {
  readonly requests: number;
  readonly failed: number;
  readonly right: number;
  readonly sentOn: number;
  readonly p50: number;
  readonly p95: number;
  /** Processor seconds per request of both engines and the judge, and of the gateway. */
  readonly engines: number;
  readonly small: number;
  readonly large: number;
  readonly judge: number;
  readonly gateway: number;
}

/** A policy's figures over all slices, and over those of each repeat. */
export interface ServedPolicyFigures extends ServedFigures {
  readonly name: string;
  readonly threshold: number | null;
  readonly repeats: readonly ServedFigures[];
  /** Points of right answers over sending as many on at random. */
  readonly overRandom: number;
  /** Means per scored answer; NaN where nothing was scored. */
  readonly judgeSeconds: number;
  readonly gateSeconds: number;
  readonly unscored: number;
  readonly withoutRoom: number;
  readonly lateSeconds: number;
}

/** Figures of every policy that was served, in the order in which they first occur in the list of names. */
export function servedFigures(
  slices: readonly ServedSlice[],
  policies: readonly { readonly name: string; readonly threshold: number | null }[],
): readonly ServedPolicyFigures[] {
  const of = (name: string): ServedFigures => figuresOf(slices.filter((slice) => slice.name === name));
  const [small, large] = [of(SMALL_ALONE), of(LARGE_ALONE)];
  return policies.map(({ name, threshold }) => {
    const own = slices.filter((slice) => slice.name === name && slice.threshold === threshold);
    const repeats = [...new Set(own.map(({ repeat }) => repeat))];
    const figures = figuresOf(own);
    const random = small.right + figures.sentOn * (large.right - small.right);
    return {
      ...{ name, threshold, ...figures },
      repeats: repeats.map((repeat) => figuresOf(own.filter((slice) => slice.repeat === repeat))),
      overRandom: 100 * (figures.right - random),
      judgeSeconds: meanOf(own.flatMap(({ judgeSeconds }) => judgeSeconds)),
      gateSeconds: meanOf(own.flatMap(({ gateSeconds }) => gateSeconds)),
      unscored: sumOf(own, ({ unscored }) => unscored),
      withoutRoom: sumOf(own, ({ withoutRoom }) => withoutRoom),
      lateSeconds: own.reduce((most, slice) => Math.max(most, slice.lateSeconds), 0),
    };
  });
}

function figuresOf(slices: readonly ServedSlice[]): ServedFigures {
  const requests = slices.flatMap((slice) => slice.requests);
  const seconds = Float64Array.from(requests, (request) => request.seconds);
  const served = sumOf(slices, (slice) => slice.served);
  const per = (role: keyof ServedSlice["use"]): number => sumOf(slices, ({ use }) => use[role]) / served;
  return {
    requests: requests.length,
    failed: sumOf(slices, ({ failed }) => failed),
    right: meanOf(requests.map(({ isRight }) => (isRight ? 1 : 0))),
    sentOn: meanOf(requests.map(({ isSentOn }) => (isSentOn ? 1 : 0))),
    p50: quantile(seconds, 0.5),
    p95: quantile(seconds, 0.95),
    engines: roles.reduce((sum, role) => sum + per(role), 0),
    ...{ small: per("small"), large: per("large"), judge: per("judge"), gateway: per("gateway") },
  };
}

/** Relative standard deviation of a figure from one repeat to the next; null below two repeats. */
export function repeatNoise({ repeats }: ServedPolicyFigures, field: keyof ServedFigures): number | null {
  const values = repeats.map((repeat) => repeat[field]);
  if (values.length < 2) return null;
  const centre = mean(values);
  return Math.sqrt(sumOf(values, (value) => (value - centre) ** 2) / (values.length - 1)) / centre;
}

/** A figure of two policies, one value per repeat each. */
export const repeatPair = (own: ServedPolicyFigures, reference: ServedPolicyFigures, field: keyof ServedFigures): SeedPair => ({
  own: own.repeats.map((repeat) => repeat[field]),
  reference: reference.repeats.map((repeat) => repeat[field]),
});

const sumOf = <Item>(items: readonly Item[], of: (item: Item) => number): number => items.reduce((sum, item) => sum + of(item), 0);

const meanOf = (values: readonly number[]): number => (values.length === 0 ? Number.NaN : mean(values));
