import { describe, expect, it } from "vitest";
import { seededRandom } from "../numeric/random";
import type { OutcomeTable } from "../workload/workload";
import { type Expected, firstDrift, mirroredRequests, withMirror } from "./mirroredDrift";

const ROWS = 400;
const SEED = 5;

/** Rows of easy prompts, then of hard ones, on which the model scores 30 points lower. */
const outcomes: OutcomeTable = (() => {
  const random = seededRandom(1);
  const judged = Float64Array.from({ length: ROWS }, (_, row) => (row < ROWS / 2 ? 60 : 30) + 20 * random.next());
  const column = (model: string) => ({
    ...{ model, tableName: model, outputTokens: new Int32Array(ROWS).fill(100), label: new Float64Array(ROWS).fill(100), judged },
  });
  return {
    promptIds: Array.from({ length: ROWS }, (_, row) => `p${row}`),
    categories: Array.from({ length: ROWS }, () => "all"),
    inputTokens: new Int32Array(ROWS).fill(50),
    models: [column("small"), column("large")],
  };
})();

const rowsFrom = (from: number, to: number): OutcomeTable => ({
  ...outcomes,
  promptIds: outcomes.promptIds.slice(from, to),
  categories: outcomes.categories.slice(from, to),
  inputTokens: outcomes.inputTokens.slice(from, to),
  models: outcomes.models.map((column) => ({ ...column, judged: column.judged.slice(from, to) })),
});

/** Regular arrivals: `rate` a second until `until`, prompts drawn from the rows. */
function traffic(parts: readonly { readonly until: number; readonly rate: number; readonly rows: readonly [number, number] }[]) {
  const random = seededRandom(2);
  const [arrivals, prompts]: [number[], number[]] = [[], []];
  let at = 0;
  for (const { until, rate, rows } of parts)
    for (; at < until; at += 1 / rate) {
      arrivals.push(at);
      prompts.push(rows[0] + random.int(rows[1] - rows[0]));
    }
  return { sample: { arrivalSeconds: Float64Array.from(arrivals), prompt: Int32Array.from(prompts) }, outcomes };
}

const expected: Expected = {
  requestsPerSecond: 20,
  arrivalSeconds: Float64Array.from({ length: 2000 }, (_, at) => at / 20),
  outcomes: rowsFrom(0, ROWS / 2),
  models: ["small", "large"],
};

const watched = (of: ReturnType<typeof traffic>, mirrorShare = 0.1) => {
  const watching = { windowSeconds: 60, mirrorShare };
  const mirrored = mirroredRequests(of.sample.prompt.length, watching, SEED);
  return firstDrift(of, expected, { watching, mirrored, from: 0, seed: SEED });
};

const easy = [0, ROWS / 2] as const;
const hard = [ROWS / 2, ROWS] as const;

describe("drift under a mirror", () => {
  it("is not seen in traffic as planned", () => {
    expect(watched(traffic([{ until: 900, rate: 20, rows: easy }]))).toBeNull();
  });

  it("of the rate is seen two windows after the change, mirrored or not", () => {
    const faster = traffic([
      { until: 300, rate: 20, rows: easy },
      { until: 900, rate: 40, rows: easy },
    ]);
    for (const share of [0, 0.1]) {
      const found = watched(faster, share);
      expect(found).toMatchObject({ atSeconds: 420, what: ["rate"] });
      expect(found?.requestsPerSecond).toBeCloseTo(40, 0);
    }
  });

  it("of difficulty is seen by the mirror's scores, and not without one", () => {
    const harder = traffic([
      { until: 300, rate: 20, rows: easy },
      { until: 900, rate: 20, rows: hard },
    ]);
    const found = watched(harder);
    expect(found?.what).toContain("score of small");
    expect(found?.mirrored.every(({ visits }) => visits.length === 2)).toBe(true);
    expect(watched(harder, 0)).toBeNull();
  });
});

it("a mirrored request is sent once more, at the same time, with scores below every threshold", () => {
  const of = traffic([{ until: 100, rate: 20, rows: easy }]);
  const mirrored = mirroredRequests(of.sample.prompt.length, { windowSeconds: 60, mirrorShare: 0.2 }, SEED);
  const served = withMirror(of, mirrored);
  const added = mirrored.reduce((sum, one) => sum + one, 0);
  expect(served.sample.prompt).toHaveLength(of.sample.prompt.length + added);
  expect(added).toBeGreaterThan(0);
  for (const [at, isMirror] of served.mirror.entries()) {
    const row = served.sample.prompt[at] ?? 0;
    const judged = served.outcomes.models[0]?.judged[row] ?? 0;
    expect(isMirror === 1 ? judged < 0 : judged >= 0).toBe(true);
    if (isMirror === 1) {
      expect(served.sample.prompt[at - 1]).toBe(row - ROWS);
      expect(served.sample.arrivalSeconds[at]).toBe(served.sample.arrivalSeconds[at - 1]);
    }
  }
});
