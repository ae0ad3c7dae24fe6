import { type GateColumn, gateColumns } from "./gateColumns";
import { type ObservedRequest, type ObservedVisit, similarRows } from "./similarRows";
import { splitPrompts } from "./split";
import type { ModelOutcomes, Workload } from "./workload";

/** Maximum numbers of requests in the table, and of rows of the earlier one compared with each: some ten million comparisons. */
const MOST_REQUESTS = 3000;

const MOST_ROWS = 3000;

/** Minimum number of requests to plan for. */
const LEAST_REQUESTS = 50;

/** Least number of mirrored requests that stand for the others: as many scores as a judgement of drift takes. */
export const ENOUGH_MIRRORED = 100;

/**
 * Requests with the answers of models that they did not reach, from the mirrored request that is most similar to each: all models answered
 * those, and they are a random share of the same traffic.
 *
 * @param mirrored at least one.
 */
export function withMirroredAnswers(
  { outcomes }: Pick<Workload, "outcomes">,
  seen: readonly ObservedRequest[],
  mirrored: readonly ObservedRequest[],
): readonly ObservedRequest[] {
  const visitOf = (model: string) => mirrored.map(({ visits }) => visits.find((visit) => visit.model === model));
  const models = outcomes.models.flatMap(({ model, tableName }) => {
    const visits = visitOf(model);
    const column = (name: GateColumn | "judged") => Float64Array.from(visits, (visit) => visit?.[name] ?? Number.NaN);
    const known = (name: GateColumn) => visits.some((visit) => visit?.[name] !== undefined);
    const gates = (["confidence", "agreement", "scorer"] as const).filter(known).map((name) => [name, column(name)] as const);
    const outputTokens = Int32Array.from(visits, (visit) => visit?.outputTokens ?? 0);
    return { model, tableName, outputTokens, label: column("judged"), judged: column("judged"), ...Object.fromEntries(gates) };
  });
  const table = {
    promptIds: mirrored.map((_, at) => `mirrored-${at}`),
    categories: mirrored.map(() => ""),
    inputTokens: Int32Array.from(mirrored, ({ inputTokens }) => inputTokens ?? 0),
    models,
  };
  const rows = similarRows(table, [...mirrored.keys()], seen);
  return seen.map((request, at) => {
    const all = mirrored[rows[at] ?? 0]?.visits ?? [];
    const others = all.filter(({ model }) => request.visits.every((visit) => visit.model !== model));
    return { ...request, visits: [...request.visits, ...others] };
  });
}

/**
 * A workload of the observed traffic: lengths and scores as observed where available. Values that a gateway cannot observe, every label and
 * the answers of models that a request did not reach, are those of a planning prompt of the earlier workload: modelled, and marked so.
 * It is the prompt nearest by raw scores of gates and by the ranks of request and first-answer length among their peers. Ranks and not
 * lengths, since longer prompts are not therefore harder; an unobserved answer is longer by the same factor as the first one.
 * Columns of gates are kept where scores of that gate were seen, so that a plan's own gate can be planned again.
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
  const seenGates = gateColumns.filter((name) => known.some(({ visits }) => visits.some((visit) => visit[name] !== undefined)));
  const models = outcomes.models.map(({ confidence, agreement, scorer, ...column }): ModelOutcomes => {
    const visits = known.map((request) => request.visits.find(({ model }) => model === column.model));
    const visit = (at: number) => visits[at];
    const unseen = (from: number, at: number): number => Math.max(1, Math.round((column.outputTokens[from] ?? 0) * (longer[at] ?? 1)));
    return {
      ...column,
      outputTokens: Int32Array.from(rows, (from, at) => visit(at)?.outputTokens ?? unseen(from, at)),
      label: Float64Array.from(rows, (from) => column.label[from] ?? 0),
      judged: Float64Array.from(rows, (from, at) => visit(at)?.judged ?? column.judged[from] ?? 0),
      ...(column.routerScore === undefined ? {} : { routerScore: Float64Array.from(rows, (from) => column.routerScore?.[from] ?? 0) }),
      ...columnsNow({ confidence, agreement, scorer }, seenGates, { visits, rows }),
    };
  });
  const scorers = Object.entries(origin.scorers ?? {}).filter(([own]) => models.some(({ model, scorer }) => model === own && scorer));
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
      scorers: scorers.length === 0 ? undefined : Object.fromEntries(scorers),
    },
  };
}

/** Gates' columns of a model, which may be missing. */
type GateColumns = { readonly [Name in GateColumn]: Float64Array | undefined };

/**
 * The columns of those gates of which scores were seen, of any model. A like row's confidence is not that of an answer of which the judge's
 * score alone was seen, so the others are left out. Agreement is that of the like row throughout, since a gateway stops to compare as soon as
 * the verdict is sure.
 */
function columnsNow(
  columns: GateColumns,
  seen: readonly GateColumn[],
  { visits, rows }: { readonly visits: readonly (ObservedVisit | undefined)[]; readonly rows: readonly number[] },
): Pick<ModelOutcomes, GateColumn> {
  return Object.fromEntries(
    seen.flatMap((name) => {
      const column = columns[name];
      if (column === undefined) return [];
      const seenAt = (at: number): number | undefined => (name === "agreement" ? undefined : visits[at]?.[name]);
      return [[name, Float64Array.from(rows, (from, at) => seenAt(at) ?? column[from] ?? 0)]];
    }),
  );
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
  const score = (at: number): number => scoreOf(requests[at]?.visits[0]);
  const meanScore = new Map<number, number>();
  for (const [at, row] of rows.entries()) meanScore.set(row, (meanScore.get(row) ?? 0) + score(at) / (times.get(row) ?? 1));
  const byRow = (at: number): number => meanScore.get(rows[at] ?? 0) ?? 0;
  const inOrder = [...rows.keys()].sort((a, b) => byRow(a) - byRow(b) || (rows[a] ?? 0) - (rows[b] ?? 0) || a - b);
  const places = [...evenly(inOrder, worth)].sort((a, b) => a - b);
  return { places, known: places.map((at) => requests[at] as ObservedRequest), rows: places.map((at) => rows[at] as number) };
}

const scoreOf = (visit: ObservedVisit | undefined): number => visit?.judged ?? visit?.confidence ?? visit?.scorer ?? visit?.agreement ?? 0;

/** At most so many of the values, evenly spread. */
function evenly<Value>(values: readonly Value[], most: number): readonly Value[] {
  if (values.length <= most) return values;
  return Array.from({ length: most }, (_, at) => values[Math.floor((at * values.length) / most)] as Value);
}
