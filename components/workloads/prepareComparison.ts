import type { WorkloadComparison, WorkloadSummary } from "@/server/contracts/studio";
import type { Compared } from "@/solver/workload/compareWorkloads";
import type { Interval } from "@/solver/workload/contentIntervals";
import { ABSENT, formatCount, formatCounted, formatDelta, formatPercent, formatRate, formatScoreMargin } from "../ui/format";
import { withHalf } from "./prepareWorkload";
import { judgedText, versionText, whereFrom } from "./prepareWorkloads";

export interface ComparisonRow {
  readonly key: string;
  readonly name: string;
  readonly a: string;
  readonly b: string;
  /** b minus a, with half its interval; null where there is nothing to compare. */
  readonly difference: string | null;
  /** Beyond noise: stated in words. */
  readonly verdict: "apart" | "within noise" | "the same" | "only in one";
}

export interface ComparisonSection {
  readonly key: string;
  readonly title: string;
  readonly rows: readonly ComparisonRow[];
}

/** The formats of a kind of figure: its value, and its difference with a unit. */
interface Reading {
  readonly value: (interval: Interval) => string;
  readonly difference: (interval: Interval) => string;
}

const half = ({ low, high }: Interval): number => (high - low) / 2;

const points: Reading = {
  value: (interval) => withHalf(interval),
  difference: (interval) => `${formatDelta(interval.value, 1)} ±${formatScoreMargin(half(interval))} points`,
};
const tokens: Reading = {
  value: (interval) => withHalf(interval, formatCount, formatCount),
  difference: (interval) => `${formatDelta(interval.value, 0)} ±${formatCount(half(interval))} tokens`,
};
const rate: Reading = {
  value: (interval) => (Number.isFinite(interval.high) ? withHalf(interval, formatRate, formatRate) : formatRate(interval.value)),
  difference: (interval) => `${formatDelta(interval.value, 2)}/s`,
};
const share: Reading = {
  value: ({ value }) => formatPercent(value),
  difference: (interval) => `${formatDelta(100 * interval.value, 1)} ±${formatScoreMargin(100 * half(interval))} points`,
};

function row(key: string, name: string, compared: Compared, reading: Reading): ComparisonRow {
  const { a, b, difference, apart } = compared;
  return {
    key,
    name,
    a: a === null ? ABSENT : reading.value(a),
    b: b === null ? ABSENT : reading.value(b),
    difference: difference === null || isNothing(difference) ? null : reading.difference(difference),
    verdict: difference === null ? "only in one" : isNothing(difference) ? "the same" : apart ? "apart" : "within noise",
  };
}

/** No difference at all: the values are identical to the last digit. */
const isNothing = ({ low, high }: Interval): boolean => low === 0 && high === 0;

/** Figures of two workloads side by side, in sections. */
export function prepareComparison({ content }: Pick<WorkloadComparison, "content">): readonly ComparisonSection[] {
  const { models } = content;
  return [
    { key: "quality", title: "Quality", rows: models.map((each) => row(each.model, each.model, each.quality, points)) },
    { key: "judged", title: "Judged score", rows: models.map((each) => row(each.model, each.model, each.judged, points)) },
    {
      key: "lengths",
      title: "Lengths",
      rows: [
        row("input", "Input", content.inputTokens, tokens),
        ...models.map((each) => row(each.model, `Output of ${each.model}`, each.outputTokens, tokens)),
      ],
    },
    { key: "arrivals", title: "Arrivals", rows: [row("rate", "Rate as recorded", content.requestsPerSecond, rate)] },
    {
      key: "categories",
      title: "Shares of the prompts",
      rows: content.categories.map(({ name, share: compared }) => row(name, name || "without a name", compared, share)),
    },
  ];
}

/** Sections with only the rows that are more than noise; empty sections are removed. */
export const onlyApart = (sections: readonly ComparisonSection[]): readonly ComparisonSection[] =>
  sections
    .map((section) => ({ ...section, rows: section.rows.filter(({ verdict }) => verdict === "apart" || verdict === "only in one") }))
    .filter(({ rows }) => rows.length > 0);

export interface LineageRow {
  readonly name: string;
  readonly a: string;
  readonly b: string;
  readonly same: boolean;
}

/** The origins of the two, in words. */
export function prepareLineage({ a, b, content }: WorkloadComparison): readonly LineageRow[] {
  const judge = (workload: WorkloadSummary) =>
    workload.judge.kind === "measured" ? judgedText(workload) : `modelled, AUC ${workload.judge.auc?.toFixed(2) ?? ABSENT}`;
  const line = (name: string, inA: string, inB: string, same = inA === inB): LineageRow => ({ name, a: inA, b: inB, same });
  return [
    line("From", whereFrom(a), whereFrom(b)),
    line("Prompts", formatCount(content.prompts.a), formatCount(content.prompts.b), content.same.prompts),
    line("Outcomes", a.outcomesFrom, b.outcomesFrom, content.same.outcomes),
    line("Arrivals", a.arrivalsFrom, b.arrivalsFrom, content.same.arrivals),
    line("Judged scores", judge(a), judge(b)),
  ];
}

/** What the two have in common, and its consequence for the figures below, in a sentence. */
export function commonText({ content: { prompts, same } }: Pick<WorkloadComparison, "content">): string {
  if (same.outcomes && same.arrivals) return "Both have the same content.";
  if (same.outcomes) return "The same prompts and outcomes with other arrivals.";
  if (same.prompts) return `The same ${formatCounted(prompts.a, "prompt")}, answered or judged again: compared prompt by prompt.`;
  if (prompts.shared > 0) {
    return `${formatCounted(prompts.shared, "prompt")} in both, of ${formatCount(prompts.a)} and ${formatCount(prompts.b)}: compared as independent samples, which gives wider intervals.`;
  }
  return "No prompt in common: compared as independent samples.";
}

export const nameOf = (workload: Pick<WorkloadSummary, "name" | "version">): string => `${workload.name} ${versionText(workload)}`;
