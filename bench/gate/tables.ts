import type { Interval } from "@/solver/numeric/interval";
import { table } from "../lib/tables";
import type { ReplayedCase } from "./replayCase";

const percent = (share: number | undefined): string => (share === undefined ? "-" : (100 * share).toFixed(1));

const points = (of: Interval | null, withInterval = true): string => {
  if (of === null) return "-";
  const signed = (share: number): string => `${share < 0 ? "−" : "+"}${Math.abs(100 * share).toFixed(1)}`;
  return withInterval ? `${signed(of.value)} (${signed(of.low)} to ${signed(of.high)})` : signed(of.value);
};

const nameOf = ({ gateCase: { task, kind } }: ReplayedCase): string => `${task}, ${kind}`;

/** The models that answer, and how often each is right. */
export const expertTable = (cases: readonly ReplayedCase[]): string =>
  table(
    ["case", "experts, right %", "leading answer right %", "aggregator alone, right %", "having read the experts, right %"],
    cases.map((one) => [
      nameOf(one),
      one.report.experts.map(({ model, accuracy }) => `${model} ${percent(accuracy.value)}`).join(", "),
      percent(leadingShare(one)),
      `${one.gateCase.aggregator} ${percent(one.aloneRight)}`,
      percent(one.report.alwaysAggregated?.value),
    ]),
  );

/** Over all questions, whatever their experts' agreement. */
const leadingShare = ({ report: { buckets, questions } }: ReplayedCase): number =>
  buckets.reduce((sum, { leading, questions: within }) => sum + (leading?.value ?? 0) * within, 0) / questions;

/** Accuracy by agreement, one column per case. */
export const bucketTable = (cases: readonly ReplayedCase[]): string => {
  const wanted = ["3:0", "2:1", "1:1:1"];
  return table(
    ["case", ...wanted.map((votes) => `${votes}: questions %, leading and aggregator right %, tokens`), "with votes missing: questions %"],
    cases.map((one) => {
      const { buckets, questions } = one.report;
      const cells = wanted.map((votes) => {
        const bucket = buckets.find((found) => found.votes === votes);
        if (bucket === undefined) return "-";
        const right = [bucket.leading, bucket.aggregator].map((share) => percent(share?.value)).join(" and ");
        return `${percent(bucket.questions / questions)}, ${right}, ${Math.round(bucket.expertTokens)}`;
      });
      const rest = buckets.filter(({ votes }) => !wanted.includes(votes)).reduce((sum, bucket) => sum + bucket.questions, 0);
      return [nameOf(one), ...cells, percent(rest / questions)];
    }),
  );
};

/** Plurality at the source's two taus compared with always aggregating. */
export const tauTable = (cases: readonly ReplayedCase[]): string =>
  table(
    [
      "case",
      "tau",
      "skipped %",
      "right %",
      "points against always aggregating, 90 %",
      "answer tokens still read %",
      "aggregator s",
      "times always",
    ],
    cases.flatMap((one) => [
      [nameOf(one), "always aggregated", "0", percent(one.report.alwaysAggregated?.value), "0", "100", seconds(one.allSeconds), "1"],
      ...one.points.map(({ tau, skipped, accuracy, difference, aggregatorTokens, seconds: took }) => [
        nameOf(one),
        tau === 1 ? "1" : "2/3",
        percent(skipped.value),
        percent(accuracy.value),
        points(difference),
        percent(aggregatorTokens),
        seconds(took),
        took === null || one.allSeconds === null || took === 0 ? "-" : (one.allSeconds / took).toFixed(2),
      ]),
    ]),
  );

const seconds = (took: number | null): string => (took === null ? "-" : took.toFixed(1));

/** The result of each confidence function with a tau chosen for it. */
export const choiceTable = (cases: readonly ReplayedCase[]): string =>
  table(
    ["case", "confidence", "tau chosen", "skipped %", "points", "held out: skipped %", "held out: points, 90 %"],
    cases.flatMap((one) =>
      one.choices.map(({ confidence, report, heldOut }) => {
        const chosen = report.points.find(({ tau }) => tau === report.chosenTau);
        return [
          nameOf(one),
          confidence,
          chosen === undefined ? "none" : chosen.tau.toFixed(3),
          percent(chosen?.skipped.value ?? 0),
          chosen === undefined ? "0" : points(chosen.difference, false),
          percent(heldOut.skipped.value),
          points(heldOut.difference),
        ];
      }),
    ),
  );
