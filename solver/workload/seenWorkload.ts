import { splitPrompts } from "./split";
import type { ModelOutcomes, OutcomeTable, Workload } from "./workload";

/** What a gateway saw of one request. */
export interface SeenRequest {
  /** On any clock, in seconds of the engines. */
  readonly arrivalSeconds: number;
  /** null: no engine told. */
  readonly inputTokens: number | null;
  /** The models that answered it, each with the judge's score where its answer was judged. */
  readonly visits: readonly { readonly model: string; readonly outputTokens: number | null; readonly judged: number | null }[];
}

/** Requests taken into the table, and rows of the earlier one compared with each: some ten million comparisons. */
const MOST_REQUESTS = 3000;
const MOST_ROWS = 3000;

/** Fewer requests are no traffic to plan for. */
const LEAST_REQUESTS = 50;

/**
 * A workload of the traffic that was seen: lengths and scores as seen where they were seen. What a gateway cannot see, the answers of
 * models that a request did not reach and every label, is that of the earlier workload's row nearest in what was seen of the
 * request, among the planning prompts: modelled, and called so. Arrivals are those seen.
 *
 * @returns null for fewer than 50 requests with a length, or all at once.
 */
export function seenWorkload(earlier: Workload, seen: readonly SeenRequest[], name: string): Workload | null {
  const arrivals = Float64Array.from(seen, ({ arrivalSeconds }) => arrivalSeconds).sort();
  const known = evenly(
    seen.filter(({ inputTokens }) => inputTokens !== null),
    MOST_REQUESTS,
  );
  const [first = 0, last = 0] = [arrivals[0], arrivals.at(-1)];
  if (known.length < LEAST_REQUESTS || last <= first) return null;
  const { outcomes, origin } = earlier;
  const nearest = nearestRow(outcomes, evenly(Array.from(splitPrompts(outcomes.promptIds.length, earlier.seed).planning), MOST_ROWS));
  const rows = known.map(nearest);
  const row = (at: number): number => rows[at] ?? 0;
  const models = outcomes.models.map((column): ModelOutcomes => {
    const visit = (at: number) => known[at]?.visits.find(({ model }) => model === column.model);
    return {
      ...column,
      outputTokens: Int32Array.from(rows, (from, at) => visit(at)?.outputTokens ?? column.outputTokens[from] ?? 0),
      label: Float64Array.from(rows, (from) => column.label[from] ?? 0),
      judged: Float64Array.from(rows, (from, at) => visit(at)?.judged ?? column.judged[from] ?? 0),
      ...(column.routerScore === undefined ? {} : { routerScore: Float64Array.from(rows, (from) => column.routerScore?.[from] ?? 0) }),
    };
  });
  return {
    ...earlier,
    name,
    outcomes: {
      promptIds: known.map((_, at) => `seen-${at}`),
      categories: known.map((_, at) => outcomes.categories[row(at)] ?? ""),
      inputTokens: Int32Array.from(known, ({ inputTokens }) => inputTokens ?? 0),
      models,
    },
    arrivalSeconds: arrivals.map((at) => at - first),
    origin: {
      ...origin,
      outcomes: `seen at the gateway; labels, and answers of models that a request did not reach, modelled by the nearest rows of ${origin.outcomes}`,
      arrivals: "seen at the gateway",
    },
  };
}

/** Finds the row nearest to a request: logarithms of lengths and scores, each over its spread, on what was seen of the request. */
function nearestRow({ inputTokens, models }: OutcomeTable, rows: readonly number[]): (request: SeenRequest) => number {
  const axis = (values: (row: number) => number) => {
    const own = Float64Array.from(rows, values);
    const mean = own.reduce((sum, value) => sum + value, 0) / own.length;
    const spread = Math.sqrt(own.reduce((sum, value) => sum + (value - mean) ** 2, 0) / own.length);
    return { own, scale: spread > 0 ? 1 / spread : 0 };
  };
  const input = axis((row) => logTokens(inputTokens[row] ?? 0));
  const columns = new Map(
    models.map(({ model, outputTokens, judged }) => [
      model,
      { output: axis((row) => logTokens(outputTokens[row] ?? 0)), score: axis((row) => judged[row] ?? 0) },
    ]),
  );
  return (request) => {
    const asked = [
      ...(request.inputTokens === null ? [] : [{ ...input, at: logTokens(request.inputTokens) }]),
      ...request.visits.flatMap(({ model, outputTokens, judged }) => {
        const column = columns.get(model);
        if (column === undefined) return [];
        return [
          ...(outputTokens === null ? [] : [{ ...column.output, at: logTokens(outputTokens) }]),
          ...(judged === null ? [] : [{ ...column.score, at: judged }]),
        ];
      }),
    ];
    let best = 0;
    let least = Number.POSITIVE_INFINITY;
    for (let index = 0; index < rows.length; index += 1) {
      let distance = 0;
      for (const { own, scale, at } of asked) distance += ((at - (own[index] ?? 0)) * scale) ** 2;
      if (distance < least) [best, least] = [index, distance];
    }
    return rows[best] ?? 0;
  };
}

const logTokens = (tokens: number): number => Math.log(Math.max(1, tokens));

/** At most so many of the values, evenly spread. */
function evenly<Value>(values: readonly Value[], most: number): readonly Value[] {
  if (values.length <= most) return values;
  return Array.from({ length: most }, (_, at) => values[Math.floor((at * values.length) / most)] as Value);
}
