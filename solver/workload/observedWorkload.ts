import { type ObservedRequest, similarRows } from "./similarRows";
import { splitPrompts } from "./split";
import type { ModelOutcomes, Workload } from "./workload";

/** Maximum numbers of requests in the table, and of rows of the earlier one compared with each: some ten million comparisons. */
const MOST_REQUESTS = 3000;

const MOST_ROWS = 3000;

/** Minimum number of requests to plan for. */
const LEAST_REQUESTS = 50;

/**
 * A workload of the observed traffic: lengths and scores as observed where available. Values that a gateway cannot observe, every label and
 * the answers of models that a request did not reach, are those of a planning prompt of the earlier workload: modelled, and marked so.
 * It is the prompt nearest by judged scores and by the ranks of request and first-answer length among their peers. Ranks and not
 * lengths, since longer prompts are not therefore harder; an unobserved answer is longer by the same factor as the first one.
 * Labels of many requests may be those of one prompt: the number of requests is limited to the effective number of labels, so that the
 * table's quality is no more certain than the earlier workload's. Arrivals are the observed ones.
 *
 * @returns null for fewer than 50 requests with a length, or if all arrive at once.
 */
export function observedWorkload(earlier: Workload, seen: readonly ObservedRequest[], name: string): Workload | null {
  const arrivals = Float64Array.from(seen, ({ arrivalSeconds }) => arrivalSeconds).sort();
  const seenKnown = evenly(
    seen.filter(({ inputTokens }) => inputTokens !== null),
    MOST_REQUESTS,
  );
  const [first = 0, last = 0] = [arrivals[0], arrivals.at(-1)];
  if (seenKnown.length < LEAST_REQUESTS || last <= first) return null;
  const { outcomes, origin } = earlier;
  const { places, known, rows } = toldApart(
    seenKnown,
    similarRows(outcomes, evenly(Array.from(splitPrompts(outcomes.promptIds.length, earlier.seed).planning), MOST_ROWS), seenKnown),
  );
  const longer = known.map(({ visits }, at) => {
    const [first] = visits;
    const planned = outcomes.models.find(({ model }) => model === first?.model)?.outputTokens[rows[at] ?? 0];
    return (first?.outputTokens ?? 0) > 0 && (planned ?? 0) > 0 ? (first?.outputTokens ?? 1) / (planned ?? 1) : 1;
  });
  // A like row's confidence, agreement or scorer is not that of the answer whose judged score was seen.
  const models = outcomes.models.map(({ confidence: _, agreement: __, scorer: ___, ...column }): ModelOutcomes => {
    const visit = (at: number) => known[at]?.visits.find(({ model }) => model === column.model);
    const unseen = (from: number, at: number): number => Math.max(1, Math.round((column.outputTokens[from] ?? 0) * (longer[at] ?? 1)));
    return {
      ...column,
      outputTokens: Int32Array.from(rows, (from, at) => visit(at)?.outputTokens ?? unseen(from, at)),
      label: Float64Array.from(rows, (from) => column.label[from] ?? 0),
      judged: Float64Array.from(rows, (from, at) => visit(at)?.judged ?? column.judged[from] ?? 0),
      ...(column.routerScore === undefined ? {} : { routerScore: Float64Array.from(rows, (from) => column.routerScore?.[from] ?? 0) }),
    };
  });
  return {
    ...earlier,
    name,
    outcomes: {
      promptIds: places.map((at) => `seen-${at}`),
      categories: rows.map((from) => outcomes.categories[from] ?? ""),
      inputTokens: Int32Array.from(known, ({ inputTokens }) => inputTokens ?? 0),
      models,
    },
    arrivalSeconds: arrivals.map((at) => at - first),
    origin: {
      ...origin,
      observed: true,
      outcomes: `seen at the gateway; labels, and answers of models that a request did not reach, modelled by like rows of ${origin.outcomes}`,
      arrivals: "seen at the gateway",
      byHour: undefined,
      scorers: undefined,
    },
  };
}

/**
 * Of requests and their most similar rows, as many as the effective number of rows where some represent several requests (Kish's effective
 * size). They are evenly spread over the rows, and the rows over the scores of the first answer, so that omitting some changes no average.
 */
function toldApart(requests: readonly ObservedRequest[], rows: readonly number[]) {
  const times = new Map<number, number>();
  for (const row of rows) times.set(row, (times.get(row) ?? 0) + 1);
  const squares = [...times.values()].reduce((sum, count) => sum + count * count, 0);
  const worth = Math.max(LEAST_REQUESTS, Math.floor(rows.length ** 2 / squares));
  const score = (at: number): number => requests[at]?.visits[0]?.judged ?? 0;
  const meanScore = new Map<number, number>();
  for (const [at, row] of rows.entries()) meanScore.set(row, (meanScore.get(row) ?? 0) + score(at) / (times.get(row) ?? 1));
  const byRow = (at: number): number => meanScore.get(rows[at] ?? 0) ?? 0;
  const inOrder = [...rows.keys()].sort((a, b) => byRow(a) - byRow(b) || (rows[a] ?? 0) - (rows[b] ?? 0) || a - b);
  const places = [...evenly(inOrder, worth)].sort((a, b) => a - b);
  return { places, known: places.map((at) => requests[at] as ObservedRequest), rows: places.map((at) => rows[at] as number) };
}

/** At most so many of the values, evenly spread. */
function evenly<Value>(values: readonly Value[], most: number): readonly Value[] {
  if (values.length <= most) return values;
  return Array.from({ length: most }, (_, at) => values[Math.floor((at * values.length) / most)] as Value);
}
