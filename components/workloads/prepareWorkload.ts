import type { WorkloadDetail } from "@/server/contracts/studio";
import type { Interval } from "@/solver/workload/contentIntervals";
import { formatCount, formatCounted, formatDelta, formatPercent, formatScore, formatScoreMargin } from "../ui/format";

/** How far a figure can be from the middle of its interval, as a share of half its width, to be shown with one ± value. */
const NEARLY_MIDDLE = 0.25;

/** A figure with half the width of its interval: `84.2 ±1.4`; with both ends where it is not near the middle: `100.0 (77.4 to 100.0)`. */
export function withHalf(
  { value, low, high }: Interval,
  format: (value: number) => string = formatScore,
  formatMargin: (half: number) => string = formatScoreMargin,
): string {
  const half = (high - low) / 2;
  if (!Number.isFinite(half)) return format(value);
  const isMiddle = Math.abs(value - (low + high) / 2) <= NEARLY_MIDDLE * half;
  return isMiddle ? `${format(value)} ±${formatMargin(half)}` : `${format(value)} (${format(low)} to ${format(high)})`;
}

/** An AUC with its interval, ends rounded outwards: `0.81 (0.79 to 0.83)`. */
export const aucText = ({ value, low, high }: Interval): string =>
  `${value.toFixed(2)} (${(Math.floor(low * 100 + 1e-6) / 100).toFixed(2)} to ${(Math.ceil(high * 100 - 1e-6) / 100).toFixed(2)})`;

/** A difference with half the width of its interval, and in words whether it is more than noise. */
export interface PreparedStep {
  readonly key: string;
  readonly smaller: string;
  readonly larger: string;
  readonly difference: string;
  /** null: it is more than noise. */
  readonly noise: string | null;
}

/** The difference between two models of a ladder, and whether this number of prompts can show it. */
export function prepareSteps(agreement: WorkloadDetail["agreement"]): readonly PreparedStep[] {
  return agreement.map(({ smaller, larger, difference, apart }) => ({
    key: `${smaller} ${larger}`,
    smaller,
    larger,
    difference: `${formatDelta(difference.value, 1)} ±${formatScoreMargin((difference.high - difference.low) / 2)}`,
    noise: apart ? null : "within noise",
  }));
}

/** The smallest difference of mean quality between two models that this number of prompts can show, in points; null with a single model. */
export function noiseFloorText({ agreement }: Pick<WorkloadDetail, "agreement">): string | null {
  const halves = agreement.map(({ difference }) => (difference.high - difference.low) / 2);
  if (halves.length === 0) return null;
  const [least, most] = [formatScore(Math.min(...halves)), formatScore(Math.max(...halves))];
  return least === most ? `${least} points` : `${least} to ${most} points`;
}

interface Part {
  readonly key: "both" | "larger" | "smaller" | "neither";
  readonly words: string;
  readonly share: number;
  readonly text: string;
}

export interface PreparedAgreement {
  readonly key: string;
  readonly smaller: string;
  readonly larger: string;
  readonly parts: readonly Part[];
}

/** The joint outcomes of two models, as parts of a bar. */
export function prepareAgreement(agreement: WorkloadDetail["agreement"]): readonly PreparedAgreement[] {
  return agreement.map(({ smaller, larger, bothRight, onlyLarger, onlySmaller, neither }) => ({
    key: `${smaller} ${larger}`,
    smaller,
    larger,
    parts: [
      { key: "both", words: "both right", share: bothRight, text: formatPercent(bothRight) },
      { key: "larger", words: "only the larger", share: onlyLarger, text: formatPercent(onlyLarger) },
      { key: "smaller", words: "only the smaller", share: onlySmaller, text: formatPercent(onlySmaller) },
      { key: "neither", words: "neither", share: neither, text: formatPercent(neither) },
    ],
  }));
}

export interface CategoryRow {
  readonly key: string;
  readonly name: string;
  readonly prompts: string;
  readonly share: string;
  readonly cells: readonly {
    readonly text: string;
    /** 0..1, relative to the range of the whole table. */
    readonly heat: number;
    /** Compared with the same model over all prompts, beyond noise. */
    readonly word: "above" | "below" | null;
  }[];
}

/** Quality by category and model, as a table shaded from its lowest to its highest cell. */
export function prepareCategories({ categories, models }: Pick<WorkloadDetail, "categories" | "models">): readonly CategoryRow[] {
  const values = categories.flatMap(({ quality }) => quality.map(({ value }) => value));
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  const prompts = categories.reduce((sum, category) => sum + category.prompts, 0);
  return categories.map((category) => ({
    key: category.name ?? " others",
    name: category.name === null ? `${formatCounted(category.categories, "smaller one")}` : category.name || "without a name",
    prompts: formatCount(category.prompts),
    share: formatPercent(category.prompts / prompts),
    cells: category.quality.map((quality, column) => {
      const whole = models[column]?.quality.value ?? quality.value;
      return {
        text: withHalf(quality),
        heat: highest > lowest ? (quality.value - lowest) / (highest - lowest) : 0,
        word: quality.low > whole ? "above" : quality.high < whole ? "below" : null,
      };
    }),
  }));
}

interface JudgedBar {
  readonly key: string;
  /** `20 to 30`. */
  readonly scores: string;
  /** Heights in the box, 0..1: share among right, and among wrong answers. */
  readonly right: number;
  readonly wrong: number;
  readonly rightText: string;
  readonly wrongText: string;
}

export interface JudgedPicture {
  readonly bars: readonly JudgedBar[];
  readonly right: number;
  readonly wrong: number;
}

/** Judged scores of right answers above and of wrong ones below, each as shares of its group, so that few wrong answers are visible too. */
export function prepareJudged({ right, wrong }: WorkloadDetail["models"][number]["judgedByLabel"]): JudgedPicture {
  const total = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);
  const [ofRight, ofWrong] = [total(right.counts), total(wrong.counts)];
  const share = (count: number | undefined, of: number) => (of === 0 ? 0 : (count ?? 0) / of);
  const most = Math.max(...right.counts.map((count) => share(count, ofRight)), ...wrong.counts.map((count) => share(count, ofWrong))) || 1;
  return {
    bars: right.counts.map((count, bar) => {
      const [inRight, inWrong] = [share(count, ofRight), share(wrong.counts[bar], ofWrong)];
      return {
        key: String(right.edges[bar]),
        scores: `${right.edges[bar]} to ${right.edges[bar + 1]}`,
        right: inRight / most,
        wrong: inWrong / most,
        rightText: formatPercent(inRight),
        wrongText: formatPercent(inWrong),
      };
    }),
    right: ofRight,
    wrong: ofWrong,
  };
}
