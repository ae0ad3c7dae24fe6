import type { Histogram, JudgedPair, WorkloadDetail, WorkloadLineage, WorkloadSummary } from "@/server/contracts/studio";
import { isRightLabel } from "@/solver/judging/agreement";
import { aucOf } from "@/solver/judging/concordance";
import { mean } from "@/solver/numeric/quantile";
import { categoryQualities } from "@/solver/workload/categoryQuality";
import { type Interval, lengthInterval, qualityInterval } from "@/solver/workload/contentIntervals";
import { modelAgreements } from "@/solver/workload/modelAgreement";
import { splitPrompts } from "@/solver/workload/split";
import type { ModelOutcomes, OutcomeTable, Workload } from "@/solver/workload/workload";

/** Bars of the histogram of arrivals: one a minute for a trace of an hour. */
const ARRIVAL_BARS = 60;
/** Edges of length histograms a doubling of the length, so that lognormal lengths look like a bell. */
const EDGES_PER_DOUBLING = 4;
/** Bars of score histograms: ten points wide. */
const SCORE_BARS = 10;
/** Prompts on which two models are compared, evenly spread: the interval is then some hundredths wide, and a page waits for it. */
const MOST_COMPARED = 4000;
/** Most categories that are listed separately; a longer table is not readable. */
const MOST_CATEGORIES = 30;

/** What lists of workloads show of one; the store adds its id and date. */
export function describeWorkload(workload: Workload): Omit<WorkloadSummary, "id" | "createdAt" | keyof WorkloadLineage> {
  const { name, outcomes, arrivalSeconds, judge, origin, seed } = workload;
  const { planning, heldOut } = splitPrompts(outcomes.promptIds.length, seed);
  return {
    name,
    generated: origin.generated,
    ...(origin.observed === undefined ? {} : { observed: origin.observed }),
    ...(origin.measured === undefined ? {} : { measured: origin.measured }),
    outcomesFrom: origin.outcomes,
    arrivalsFrom: origin.arrivals,
    prompts: outcomes.promptIds.length,
    planningPrompts: planning.length,
    heldOutPrompts: heldOut.length,
    arrivals: arrivalSeconds.length,
    recordedRequestsPerSecond: (arrivalSeconds.length - 1) / lastOf(arrivalSeconds),
    judge: { kind: judge.kind, auc: judge.kind === "modelled" ? judge.auc : null },
    models: outcomes.models.map(({ model, tableName, label, outputTokens }) => ({
      model,
      tableName,
      meanLabel: mean(label),
      meanOutputTokens: mean(outputTokens),
    })),
    meanInputTokens: mean(outcomes.inputTokens),
  };
}

/** How a workload's lengths, scores and arrivals are spread, over all its prompts. Length histograms share their edges, so that models compare. */
export function workloadDetail({ outcomes, arrivalSeconds, origin }: Workload): WorkloadDetail {
  const outputEdges = lengthEdges(outcomes.models.map(({ outputTokens }) => outputTokens));
  const scoreEdges = evenEdges(100, SCORE_BARS);
  const judgedWhere = ({ label, judged }: ModelOutcomes, right: boolean) =>
    histogram(
      judged.filter((_, row) => isRightLabel(label[row] ?? 0) === right),
      scoreEdges,
    );
  return {
    inputTokens: histogram(outcomes.inputTokens, lengthEdges([outcomes.inputTokens])),
    models: outcomes.models.map((column) => ({
      model: column.model,
      outputTokens: histogram(column.outputTokens, outputEdges),
      label: histogram(column.label, scoreEdges),
      judged: histogram(column.judged, scoreEdges),
      quality: known(qualityInterval(column.label)),
      meanJudged: known(qualityInterval(column.judged)),
      meanOutputTokens: known(lengthInterval(column.outputTokens)),
      judgedByLabel: { right: judgedWhere(column, true), wrong: judgedWhere(column, false) },
      judgeAuc: aucOf(Array.from(column.label, (label, row) => ({ score: column.judged[row] ?? 0, label }))),
    })),
    judgedPairs: judgedPairs(outcomes),
    agreement: modelAgreements(outcomes),
    arrivals: histogram(arrivalSeconds, evenEdges(lastOf(arrivalSeconds), ARRIVAL_BARS)),
    byHour: origin.byHour ?? null,
    categories: categoryQualities(outcomes, MOST_CATEGORIES),
  };
}

/** A gate reads the scores of one stage alone, so that scores of two models are never compared with each other. */
function judgedPairs({ promptIds, models }: OutcomeTable): readonly JudgedPair[] {
  const every = Math.max(1, promptIds.length / MOST_COMPARED);
  const rows = Array.from({ length: Math.min(promptIds.length, MOST_COMPARED) }, (_, at) => Math.floor(at * every));
  const gains = (smaller: ModelOutcomes, larger: ModelOutcomes) =>
    rows.map((row) => ({ score: smaller.judged[row] ?? 0, label: (smaller.label[row] ?? 0) - (larger.label[row] ?? 0) }));
  return models.flatMap((smaller, at) =>
    models.slice(at + 1).map((larger) => ({ smaller: smaller.model, larger: larger.model, auc: aucOf(gains(smaller, larger)) })),
  );
}

/** A workload has prompts, so there is one. */
const known = (interval: Interval | null): Interval => interval ?? { value: Number.NaN, low: Number.NaN, high: Number.NaN };

const lastOf = (ascending: Float64Array): number => ascending[ascending.length - 1] ?? Number.NaN;

const evenEdges = (end: number, bars: number): readonly number[] => Array.from({ length: bars + 1 }, (_, bar) => (end * bar) / bars);

/** Geometric edges around all values, whole tokens, each once. */
function lengthEdges(columns: readonly Int32Array[]): readonly number[] {
  const longest = columns.reduce((most, column) => column.reduce((max, tokens) => Math.max(max, tokens), most), 1);
  const shortest = columns.reduce((least, column) => column.reduce((min, tokens) => Math.min(min, tokens), least), longest);
  const step = (tokens: number): number => Math.floor(EDGES_PER_DOUBLING * Math.log2(tokens));
  const first = step(shortest);
  const edges = Array.from({ length: step(longest) - first + 2 }, (_, bar) => Math.floor(2 ** ((first + bar) / EDGES_PER_DOUBLING)));
  edges[edges.length - 1] = Math.max(longest + 1, edges[edges.length - 1] ?? 0);
  return [...new Set(edges)];
}

/** Counts between ascending edges. The last bar holds its upper edge too: a score of 100, the last arrival. */
function histogram(values: Iterable<number>, edges: readonly number[]): Histogram {
  const counts = new Array<number>(edges.length - 1).fill(0);
  for (const value of values) {
    const above = edges.findIndex((edge) => edge > value);
    const bar = above < 0 ? counts.length - 1 : above - 1;
    counts[bar] = (counts[bar] ?? 0) + 1;
  }
  return { edges, counts };
}
