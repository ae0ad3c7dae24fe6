import { differenceOf, ratioOf } from "../../lib/bySeed";
import { ratio, signed, table } from "../../lib/tables";
import { ms } from "../milliseconds";
import { repeatNoise, repeatPair, type ServedFigures, type ServedPolicyFigures } from "./servedFigures";

/** The gate that the others are compared with. */
export const REFERENCE = "judge";

const percent = (share: number): string => (100 * share).toFixed(1);

/** Every policy under the same load. */
export const servedTable = (figures: readonly ServedPolicyFigures[]): string =>
  table(
    [
      ...["gate", "threshold", "requests", "failed", "right %", "sent on %", "over random", "p50", "p95"],
      ...["engine time", "of it small", "large", "judge", "gateway", "answer to score", "call of the judge"],
    ],
    figures.map((one) => [
      ...[one.name, one.threshold === null ? "-" : String(one.threshold), String(one.requests), String(one.failed)],
      ...[percent(one.right), percent(one.sentOn), one.threshold === null ? "-" : signedPoints(one.overRandom)],
      ...[noisy(one, "p50"), noisy(one, "p95"), noisy(one, "engines")],
      ...[ms(one.small), ms(one.large), ms(one.judge), ms(one.gateway), ms(one.gateSeconds), ms(one.judgeSeconds)],
    ]),
  );

/** Each gate over the judge at the same threshold: of each repeat the ratio or the difference, over repeats with an interval. */
export const againstJudge = (figures: readonly ServedPolicyFigures[]): string =>
  table(
    ["gate", "threshold", "right, points", "sent on, points", "p50", "p95", "engine time"],
    figures.flatMap((own) => {
      const judge = figures.find(({ name, threshold }) => name === REFERENCE && threshold === own.threshold);
      if (judge === undefined || own.name === REFERENCE) return [];
      const points = (field: "right" | "sentOn"): string => {
        const { own: ones, reference } = repeatPair(own, judge, field);
        return signed(differenceOf([{ own: ones.map((one) => 100 * one), reference: reference.map((one) => 100 * one) }]));
      };
      const over = (field: "p50" | "p95" | "engines"): string => ratio(ratioOf([repeatPair(own, judge, field)]));
      return [[own.name, String(own.threshold), points("right"), points("sentOn"), over("p50"), over("p95"), over("engines")]];
    }),
  );

/** Milliseconds, and the relative deviation from one repeat to the next. */
function noisy(figures: ServedPolicyFigures, field: keyof ServedFigures): string {
  const noise = repeatNoise(figures, field);
  return noise === null ? ms(figures[field]) : `${ms(figures[field])} ± ${Math.round(100 * noise)} %`;
}

const signedPoints = (points: number): string => `${points < 0 ? "" : "+"}${points.toFixed(1)}`;
