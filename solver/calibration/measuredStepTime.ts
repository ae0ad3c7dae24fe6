import type { StepLoad, StepTime } from "../engine/replicaModel";
import { mean } from "../numeric/quantile";

/** One measured engine step. */
export interface MeasuredStep {
  /** Prompt tokens computed in the step; 0 for a step that only decodes. */
  readonly prefillTokens: number;
  /** Sequences that decode in the step. */
  readonly sequences: number;
  /** Cached tokens that they read. */
  readonly kvTokens: number;
  readonly seconds: number;
}

export type MeasuredStepTime =
  | { readonly outcome: "steps"; readonly stepTime: StepTime; readonly notes: readonly string[] }
  | { readonly outcome: "refused"; readonly reason: string };

/** Piecewise linear through points that ascend by `x`; beyond them the nearest segment continues. */
interface Curve {
  readonly x: readonly number[];
  readonly y: readonly number[];
}

/**
 * Step time from a user's own table of measured steps, instead of the analytic one: decode steps are linear in cached tokens
 * (least squares within equal numbers of sequences), plus a curve over the number of sequences; the additional time of mixed steps is a
 * curve over their prompt tokens. Between measured points it interpolates; beyond them it extrapolates linearly and reports that.
 *
 * @param source name in the provenance, such as the file.
 * @returns refused, with the reason, when the table is not sufficient for a step time.
 */
export function measuredStepTime(steps: readonly MeasuredStep[], source: string): MeasuredStepTime {
  const decodes = steps.filter(({ prefillTokens, sequences }) => prefillTokens === 0 && sequences > 0);
  const batches = groupBy(decodes, ({ sequences }) => sequences);
  if (batches.size < 2) {
    return { outcome: "refused", reason: `Decode steps of two numbers of sequences or more are needed, found ${batches.size}.` };
  }
  const secondsPerKvToken = kvSlope([...batches.values()]);
  if (secondsPerKvToken === null) {
    return {
      outcome: "refused",
      reason: "Decode steps with equal sequences and different cached tokens are needed: none show what a cached token costs.",
    };
  }
  const decodeCurve = curveOf(
    [...batches].map(([x, members]) => [x, mean(members.map((one) => one.seconds - secondsPerKvToken * one.kvTokens))]),
  );
  const prefills = groupBy(
    steps.filter(({ prefillTokens }) => prefillTokens > 0),
    ({ prefillTokens }) => prefillTokens,
  );
  if (prefills.size < 2) {
    return { outcome: "refused", reason: `Steps with two numbers of prompt tokens or more are needed, found ${prefills.size}.` };
  }
  const beside = ({ sequences, kvTokens }: MeasuredStep): number =>
    (sequences === 0 ? 0 : at(decodeCurve, sequences)) + secondsPerKvToken * kvTokens;
  const prefillCurve = curveOf([...prefills].map(([x, members]) => [x, mean(members.map((one) => one.seconds - beside(one)))]));
  const range = (curve: Curve): string => `${curve.x[0]} to ${curve.x.at(-1)}`;
  const notes = [
    `measured with ${range(decodeCurve)} sequences and ${range(prefillCurve)} prompt tokens a step: beyond that extrapolated`,
    "attention of long prompts is as in the measured steps, whatever came before a chunk",
  ];
  return {
    outcome: "steps",
    notes,
    stepTime: {
      decodeBaseSeconds: (sequences) => at(decodeCurve, sequences),
      secondsPerKvToken,
      mixedStepSeconds: ({ tokens, prefillTokens, kvTokensRead }: StepLoad) => {
        const decoding = tokens - prefillTokens;
        const base = decoding === 0 ? 0 : at(decodeCurve, decoding);
        return base + secondsPerKvToken * kvTokensRead + (prefillTokens === 0 ? 0 : at(prefillCurve, prefillTokens));
      },
      provenance: [{ kind: "measured", source }],
    },
  };
}

/** Pooled slope of seconds over cached tokens within batches; null when no batch has two different numbers of cached tokens. */
function kvSlope(batches: readonly (readonly MeasuredStep[])[]): number | null {
  let products = 0;
  let squares = 0;
  for (const members of batches) {
    const tokens = mean(members.map(({ kvTokens }) => kvTokens));
    const seconds = mean(members.map((one) => one.seconds));
    for (const one of members) {
      products += (one.kvTokens - tokens) * (one.seconds - seconds);
      squares += (one.kvTokens - tokens) ** 2;
    }
  }
  return squares === 0 ? null : Math.max(0, products / squares);
}

/** Points by ascending x; a measured dip in y is levelled, since no step gets shorter with more work. */
function curveOf(points: readonly (readonly [x: number, y: number])[]): Curve {
  const sorted = [...points].sort(([a], [b]) => a - b);
  let highest = 0;
  return {
    x: sorted.map(([x]) => x),
    y: sorted.map(([, y]) => {
      highest = Math.max(highest, y);
      return highest;
    }),
  };
}

function at({ x, y }: Curve, value: number): number {
  const above = x.findIndex((one) => one >= value);
  const right = above < 0 ? x.length - 1 : Math.max(1, above);
  const [x0 = 0, x1 = 0, y0 = 0, y1 = 0] = [x[right - 1], x[right], y[right - 1], y[right]];
  return Math.max(0, y0 + ((value - x0) / (x1 - x0)) * (y1 - y0));
}

function groupBy(steps: readonly MeasuredStep[], key: (step: MeasuredStep) => number): Map<number, MeasuredStep[]> {
  const groups = new Map<number, MeasuredStep[]>();
  for (const step of steps) groups.set(key(step), [...(groups.get(key(step)) ?? []), step]);
  return groups;
}
