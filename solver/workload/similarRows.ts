import { mean } from "../numeric/quantile";
import { type GateColumn, gateColumnsOf } from "./gateColumns";
import type { OutcomeTable } from "./workload";

interface Axis {
  /** Per row, scaled to a spread of 1 over the rows; NaN where the row has no value. */
  readonly own: Float64Array;
  /** Mean over the rows that have one. */
  readonly centre: number;
  /** Values of a request, on the same scale; null where not observed. */
  at(request: ObservedRequest): number | null;
}

/**
 * For each request the most similar of some rows, by the observed values: raw scores of gates, the judge's among them, and the ranks of its
 * length and its first answer's length among the requests, compared with the rows' own ranks. Each is weighted by its spread. A score that a
 * row lacks (NaN) is as far from a request's as those of the other rows are on average, so that it neither draws the row near nor keeps it away.
 */
export function similarRows(
  { inputTokens, models }: OutcomeTable,
  rows: readonly number[],
  requests: readonly ObservedRequest[],
): number[] {
  const axes = [
    rankAxis(
      rows.map((row) => inputTokens[row] ?? 0),
      requests,
      (request) => request.inputTokens,
    ),
    ...models.flatMap((own) => [
      rankAxis(
        rows.map((row) => own.outputTokens[row] ?? 0),
        requests,
        // Later models answer a selection of the requests, whose ranks are not those of all rows.
        ({ visits: [first] }) => (first?.model === own.model ? first.outputTokens : null),
      ),
      ...(["judged", ...gateColumnsOf(own)] as const).map((column) =>
        scoreAxis(
          rows.map((row) => own[column]?.[row] ?? Number.NaN),
          ({ visits }) => visits.find(({ model }) => model === own.model)?.[column] ?? null,
        ),
      ),
    ]),
  ];
  return requests.map((request) => {
    const asked = axes.flatMap(({ own, centre, at }) => {
      const value = at(request);
      return value === null ? [] : [{ own, value, lacking: 1 + (value - centre) ** 2 }];
    });
    let best = 0;
    let least = Number.POSITIVE_INFINITY;
    for (let index = 0; index < rows.length; index += 1) {
      let distance = 0;
      for (const { own, value, lacking } of asked) {
        const row = own[index] ?? 0;
        distance += Number.isNaN(row) ? lacking : (value - row) ** 2;
      }
      if (distance < least) [best, least] = [index, distance];
    }
    return rows[best] ?? 0;
  });
}

/** Standard deviation of ranks from 0 to 1. */
const RANK_SPREAD = Math.sqrt(1 / 12);

/** The rank of a value among its peers: rows among rows, requests among requests. */
function rankAxis(own: readonly number[], requests: readonly ObservedRequest[], of: (request: ObservedRequest) => number | null): Axis {
  const among = (values: readonly number[]) => {
    const sorted = Float64Array.from(values).sort();
    return (value: number): number => (countBelow(sorted, value) + countBelow(sorted, value + 1)) / (2 * sorted.length * RANK_SPREAD);
  };
  const rowRank = among(own);
  const requestRank = among(requests.flatMap((request) => of(request) ?? []));
  const ranks = Float64Array.from(own, rowRank);
  return {
    own: ranks,
    centre: mean(ranks),
    at(request) {
      const value = of(request);
      return value === null ? null : requestRank(value);
    },
  };
}

function scoreAxis(own: readonly number[], of: (request: ObservedRequest) => number | null): Axis {
  const known = own.filter((value) => !Number.isNaN(value));
  const centre = mean(known);
  const spread = Math.sqrt(mean(known.map((value) => (value - centre) ** 2)));
  const scale = spread > 0 ? 1 / spread : 0;
  return {
    // Scores without a spread tell no row from another, nor one that lacks them.
    own: Float64Array.from(own, (value) => (scale === 0 ? 0 : value * scale)),
    centre: scale === 0 ? 0 : centre * scale,
    at(request) {
      const value = of(request);
      return value === null ? null : value * scale;
    },
  };
}

/** Number of the ascending values below one. */
function countBelow(sorted: Float64Array, value: number): number {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] ?? 0) < value) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** An answer to an observed request, with the raw scores that its gate recorded, 0..100. */
export interface ObservedVisit extends Readonly<Partial<Record<GateColumn, number>>> {
  readonly model: string;
  readonly outputTokens: number | null;
  /** The judge's score, before calibration; null: it gave none. */
  readonly judged: number | null;
}

/** A gateway's observation of one request. */
export interface ObservedRequest {
  /** On any clock, in seconds of the engines. */
  readonly arrivalSeconds: number;
  /** null: no engine reported it. */
  readonly inputTokens: number | null;
  /** The models that answered it. */
  readonly visits: readonly ObservedVisit[];
}
