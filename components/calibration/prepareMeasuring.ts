import type { MeasuredPoint, Measuring, MeasuringAnnouncement } from "@/server/contracts/studio";
import type { ServingMetric } from "@/solver/hardware/engineProfile";
import { quantile } from "@/solver/numeric/quantile";
import type { ScatterInput } from "../charts/prepareScatter";
import { formatCount, formatCounted } from "../ui/format";

const minutes = (seconds: number): string =>
  seconds < 90 ? `${Math.max(0, Math.round(seconds))} s` : `${Math.round(seconds / 60)} minutes`;

const shapeText = ({ tp, pp }: MeasuringAnnouncement["shape"]): string => `tp ${tp}, pp ${pp}`;

/** What becomes of the profile that plans use when they use another, in a sentence. @param name of the profile in use. */
export const setAsideText = (name: string): string =>
  `The profile in use, "${name}", is set aside for every cluster; Calibration can put it back in use.`;

/**
 * The load of a measurement and what its profile replaces, before any of it is sent, a sentence each.
 *
 * @param inUse name of the profile that plans use now.
 */
export function announcementTexts(
  announced: MeasuringAnnouncement,
  { servingOthers, inUse }: { readonly servingOthers: boolean; readonly inUse: string },
): readonly string[] {
  const { engine, version, served, model, gpu, mostConcurrency, contextTokens, showsOthers, seconds, tokens } = announced;
  const { shape, attachedShape } = announced;
  const isOtherShape = attachedShape !== null && shapeText(attachedShape) !== shapeText(shape);
  return [
    `${engine}${version === null ? "" : ` ${version}`} serves ${served}. The profile is filed under the cards ${model} and ${gpu}, and holds for ${shapeText(shape)}.`,
    ...(isOtherShape
      ? [`The engine is attached with ${shapeText(attachedShape)}: measured as ${shapeText(shape)} it counts as an engine of that shape.`]
      : []),
    `It gets 1 to ${formatCount(mostConcurrency)} requests in flight, of up to ${formatCount(contextTokens)} tokens each: at most ${formatCount(tokens)} tokens in at most ${minutes(seconds)}.`,
    servingOthers ? "Others may use it meanwhile: their load is part of the figures." : "If it serves others, nothing is sent.",
    ...(showsOthers ? [] : ["It has no metrics that show whether it serves others."]),
    `Plans use the new profile when you click "Plan with it". ${setAsideText(inUse)}`,
  ];
}

/** What a measurement does, in a sentence. */
export function progressText({ doing, left, points, announced }: Pick<Measuring, "doing" | "left" | "points" | "announced">): string {
  const used = announced.tokens - left.tokens;
  return `${doing}. ${formatCounted(points.length, "run")} so far, ${formatCount(Math.max(0, used))} of ${formatCount(announced.tokens)} tokens sent, ${minutes(left.seconds)} left.`;
}

/** Share of the budget that is used, 0..1: of its time or of its tokens, whichever is nearer to its end. */
export const usedShare = ({ left, announced }: Pick<Measuring, "left" | "announced">): number =>
  Math.min(1, Math.max(0, 1 - left.seconds / announced.seconds, 1 - left.tokens / announced.tokens));

/** Predictions against measured runs, for the chart. */
export function scatterOf(points: readonly MeasuredPoint[], metric: ServingMetric): readonly ScatterInput[] {
  return points.flatMap(({ run, errors }, key) => {
    const measured = { ttft: run.ttftSeconds, tpot: run.tpotSeconds, endToEnd: run.endToEndSeconds }[metric];
    const error = errors?.[metric] ?? null;
    if (measured === null || error === null) return [];
    return [{ key, measured, predicted: measured * (1 + error), letter: "r", hue: "var(--accent)" }];
  });
}

/** What the errors of a measurement are and on which runs, in a sentence. */
export function errorSentence(points: readonly MeasuredPoint[], errorsOf: "kept-aside" | "fit"): string {
  const { ttft, tpot, endToEnd, p95 } = errorTexts(points);
  const figures = `TTFT ${ttft}, TPOT ${tpot}, end to end ${endToEnd}, p95 ${p95}`;
  return errorsOf === "kept-aside"
    ? `Median error on runs kept aside by their lengths: ${figures}.`
    : `Median error on the runs of the fit itself: ${figures}. All runs have the same lengths, so the error at other lengths is not known.`;
}

/** Median error of each figure on the runs, in words; "–" where no run has one. */
export function errorTexts(points: readonly MeasuredPoint[]): Readonly<Record<ServingMetric | "p95", string>> {
  const median = (errors: readonly (number | null | undefined)[]): string => {
    const known = Float64Array.from(errors.flatMap((error) => (error === null || error === undefined ? [] : [Math.abs(error)])));
    return known.length === 0 ? "–" : `${(100 * quantile(known, 0.5)).toFixed(1)} %`;
  };
  return {
    ttft: median(points.map(({ errors }) => errors?.ttft)),
    tpot: median(points.map(({ errors }) => errors?.tpot)),
    endToEnd: median(points.map(({ errors }) => errors?.endToEnd)),
    p95: median(points.map(({ errors }) => errors?.p95)),
  };
}
