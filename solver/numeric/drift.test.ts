import { readFileSync } from "node:fs";
import { beforeAll, describe, expect, it } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { gammaArrivals } from "../engine/gammaArrivals";
import { generatedWorkload } from "../workload/generated";
import type { OutcomeTable } from "../workload/workload";
import {
  type DriftReference,
  type DriftState,
  driftedIn,
  driftReference,
  observeWindow,
  RATE,
  steadyState,
  type TrafficWindow,
} from "./drift";
import { seededRandom } from "./random";

const WINDOW_SECONDS = 300;
const WINDOWS_A_DAY = 86_400 / WINDOW_SECONDS;
/** As the source samples. */
const LENGTH_SAMPLE = 50;
const SCORE_SHARE = 0.05;

const { outcomes } = generatedWorkload({ prompts: 30_000, seed: 1 });
const all = Int32Array.from({ length: 30_000 }, (_, prompt) => prompt);
const INPUT = "input tokens";
const OUTPUT = "output tokens";
const scoreOf = (model: string): string => `score of ${model}`;

function referenceOn(table: OutcomeTable, prompts: Int32Array, { rate, seed }: { rate: number; seed: number }): DriftReference {
  const of = (values: ArrayLike<number>): Float64Array => Float64Array.from(prompts, (prompt) => values[prompt]!);
  return driftReference(
    {
      requestsPerSecond: rate,
      arrivalSeconds: gammaArrivals({ requests: 20_000, requestsPerSecond: 5, shape: 0.862, seed }),
      characteristics: [
        { name: INPUT, kind: "tokens", values: of(table.inputTokens) },
        { name: OUTPUT, kind: "tokens", values: of(table.models[0]!.outputTokens) },
        ...table.models.map(({ model, judged }) => ({ name: scoreOf(model), kind: "score" as const, values: of(judged) })),
      ],
    },
    seed,
  );
}

interface Traffic {
  readonly rate: number;
  readonly windows: number;
  readonly seed: number;
  readonly lengthFactor?: number;
  readonly scoreShift?: number;
}

/** Windows of traffic drawn from all prompts of the table, arrivals a Gamma process of the trace's shape. */
function windowsOf({ rate, windows, seed, lengthFactor = 1, scoreShift = 0 }: Traffic): TrafficWindow[] {
  const random = seededRandom(seed);
  const arrivals = gammaArrivals({
    requests: Math.ceil(rate * windows * WINDOW_SECONDS * 1.2),
    requestsPerSecond: rate,
    shape: 0.862,
    seed,
  });
  let at = 0;
  return Array.from({ length: windows }, (_, window) => {
    const first = at;
    while (at < arrivals.length && arrivals[at]! < (window + 1) * WINDOW_SECONDS) at += 1;
    const requests = at - first;
    const drawn = (count: number): number[] => Array.from({ length: count }, () => random.int(all.length));
    const lengths = drawn(Math.min(LENGTH_SAMPLE, requests));
    const scored = drawn(Math.round(SCORE_SHARE * requests));
    return {
      requests,
      seconds: WINDOW_SECONDS,
      samples: {
        [INPUT]: lengths.map((prompt) => outcomes.inputTokens[prompt]!),
        [OUTPUT]: lengths.map((prompt) => lengthFactor * outcomes.models[0]!.outputTokens[prompt]!),
        ...Object.fromEntries(
          outcomes.models.map(({ model, judged }) => [
            scoreOf(model),
            scored.map((prompt) => Math.min(100, Math.max(0, judged[prompt]! + scoreShift))),
          ]),
        ),
      },
    };
  });
}

/** Runs windows through the test: the number of gauges that turned to drifted, and the window at which the first one did. */
function run(reference: DriftReference, windows: readonly TrafficWindow[]) {
  let state: DriftState = steadyState(reference);
  let alarms = 0;
  let above = 0;
  let first: { readonly window: number; readonly names: string[] } | null = null;
  for (const [window, seen] of windows.entries()) {
    const before = new Set(driftedIn(state));
    state = observeWindow(reference, state, seen);
    above += Object.values(state).filter(({ level }) => (level ?? 0) >= 1).length;
    const turned = driftedIn(state).filter((name) => !before.has(name));
    alarms += turned.length;
    if (turned.length > 0 && first === null) first = { window: window + 1, names: turned };
  }
  return { alarms, above, first, state };
}

const planned = (seed: number): Int32Array => {
  const random = seededRandom(seed);
  return Int32Array.from({ length: 1000 }, () => random.int(all.length));
};

describe("observeWindow on made-up traffic", () => {
  it("raises a false alarm in some weeks of steady traffic only", () => {
    const [plans, days] = [10, 1];
    let alarms = 0;
    let above = 0;
    for (let seed = 1; seed <= plans; seed += 1) {
      const windows = windowsOf({ rate: 1, windows: days * WINDOWS_A_DAY, seed: 100 + seed });
      const seen = run(referenceOn(outcomes, planned(seed), { rate: 1, seed }), windows);
      alarms += seen.alarms;
      above += seen.above;
    }
    // Of 108 days at 0.5, 2 and 8 requests/s four had one; more than two in ten days would be a surprise.
    expect(alarms).toBeLessThanOrEqual(2);
    expect(above).toBeGreaterThan(0);
  });

  it.each([
    { shift: "rate x1.3", change: { rate: 2.6 }, name: RATE, withinWindows: 3 },
    { shift: "rate /1.3", change: { rate: 2 / 1.3 }, name: RATE, withinWindows: 3 },
    { shift: "answers 1.5 times as long", change: { lengthFactor: 1.5 }, name: OUTPUT, withinWindows: 6 },
    { shift: "scores 10 points lower", change: { scoreShift: -10 }, name: scoreOf(outcomes.models[0]!.model), withinWindows: 24 },
  ])("notices $shift and says in what", ({ change, name, withinWindows }) => {
    for (let seed = 1; seed <= 5; seed += 1) {
      const windows = windowsOf({ rate: 2, windows: withinWindows, seed: 200 + seed, ...change });
      const { state } = run(referenceOn(outcomes, planned(seed), { rate: 2, seed }), windows);
      expect(driftedIn(state)).toContain(name);
    }
  });

  it("leaves alone what is real but too small to matter to a plan", () => {
    const { alarms } = run(
      referenceOn(outcomes, planned(1), { rate: 8, seed: 1 }),
      windowsOf({ rate: 8.6, windows: 72, seed: 3, lengthFactor: 1.05 }),
    );
    expect(alarms).toBe(0);
  });
});

describe("observeWindow, step by step", () => {
  const steadyRate = driftReference(
    {
      requestsPerSecond: 10,
      arrivalSeconds: gammaArrivals({ requests: 5000, requestsPerSecond: 10, shape: 1, seed: 1 }),
      characteristics: [],
    },
    1,
  );
  const after = (ratios: readonly number[]): DriftState =>
    ratios.reduce(
      (state, ratio) => observeWindow(steadyRate, state, { requests: 3000 * ratio, seconds: 300, samples: {} }),
      steadyState(steadyRate),
    );

  it("turns after two windows in a row above the line and not after one", () => {
    expect(driftedIn(after([1.4]))).toEqual([]);
    expect(driftedIn(after([1.4, 1, 1.4, 1]))).toEqual([]);
    expect(driftedIn(after([1.4, 1.4]))).toEqual([RATE]);
    expect(driftedIn(after([0, 0]))).toEqual([RATE]);
  });

  it("returns only below the lower line, again after two windows, so that a rate at the line does not flap", () => {
    expect(driftedIn(after([1.4, 1.4, 1.13, 1.13, 1.13]))).toEqual([RATE]);
    expect(driftedIn(after([1.13, 1.13, 1.13]))).toEqual([]);
    expect(driftedIn(after([1.4, 1.4, 1.05]))).toEqual([RATE]);
    expect(driftedIn(after([1.4, 1.4, 1.05, 1.05]))).toEqual([]);
  });

  it("pools scores over windows until there are enough, and judges nothing that was not seen", () => {
    const values = Float64Array.from({ length: 400 }, (_, at) => at % 101);
    const reference = driftReference(
      { requestsPerSecond: 1, arrivalSeconds: new Float64Array(), characteristics: [{ name: "score", kind: "score", values }] },
      1,
    );
    const few = { requests: 300, seconds: 300, samples: { score: new Array(40).fill(0) } };
    let state = steadyState(reference);
    const levels = Array.from({ length: 6 }, () => {
      state = observeWindow(reference, state, few);
      return state.score!.level;
    });
    expect(levels.map((level) => level !== null)).toEqual([false, false, true, true, true, true]);
    expect(driftedIn(state)).toEqual(["score"]);
    expect(observeWindow(reference, state, { ...few, samples: {} }).score).toEqual(state.score);
  });

  it("refuses a characteristic without planned values", () => {
    const characteristics = [{ name: "input tokens", kind: "tokens" as const, values: [] }];
    expect(() => driftReference({ requestsPerSecond: 1, arrivalSeconds: new Float64Array(), characteristics }, 1)).toThrow(
      "no values of input tokens",
    );
  });
});

const TRACES = "../shared/data/traces";

/** Seconds since the first request, input and output tokens of a published trace. */
function trace(name: string) {
  const rows = readFileSync(`${TRACES}/AzureLLMInferenceTrace_${name}.csv`, "utf8").trim().split("\n").slice(1);
  const cells = rows.map((row) => row.split(","));
  const start = Date.parse(`${cells[0]![0]!.replace(" ", "T")}Z`);
  return {
    seconds: Float64Array.from(cells, ([at = ""]) => (Date.parse(`${at.replace(" ", "T")}Z`) - start) / 1000),
    input: cells.map(([, tokens]) => Number(tokens)),
    output: cells.map(([, , tokens]) => Number(tokens)),
  };
}

/** Five-minute windows of a trace, lengths sampled evenly over each. */
function traceWindows({ seconds, input, output }: ReturnType<typeof trace>): TrafficWindow[] {
  const count = Math.floor(seconds.at(-1)! / WINDOW_SECONDS);
  return Array.from({ length: count }, (_, window) => {
    const rows = Array.from(seconds.keys()).filter((row) => Math.floor(seconds[row]! / WINDOW_SECONDS) === window);
    const sampled = Array.from({ length: LENGTH_SAMPLE }, (_, at) => rows[Math.floor((at * rows.length) / LENGTH_SAMPLE)]!);
    return {
      requests: rows.length,
      seconds: WINDOW_SECONDS,
      samples: { [INPUT]: sampled.map((row) => input[row]!), [OUTPUT]: sampled.map((row) => output[row]!) },
    };
  });
}

describe("observeWindow on production traces", needs(file(TRACES)), () => {
  let conversations: ReturnType<typeof trace>;
  let reference: DriftReference;
  beforeAll(() => {
    conversations = trace("conv");
    reference = driftReference(
      {
        requestsPerSecond: conversations.seconds.length / conversations.seconds.at(-1)!,
        arrivalSeconds: conversations.seconds,
        characteristics: [
          { name: INPUT, kind: "tokens", values: conversations.input },
          { name: OUTPUT, kind: "tokens", values: conversations.output },
        ],
      },
      1,
    );
  });

  it("notices within two windows that conversations have given way to code completion", () => {
    const { first, state } = run(reference, traceWindows(trace("code")).slice(0, 2));
    expect(first?.window).toBe(2);
    expect(driftedIn(state)).toEqual(expect.arrayContaining([RATE, INPUT, OUTPUT]));
  });

  it("notices within the hour that there are 1.3 times as many conversations", () => {
    const faster = { ...conversations, seconds: conversations.seconds.map((seconds) => seconds / 1.3) };
    const { first } = run(reference, traceWindows(faster));
    expect(first?.names).toContain(RATE);
  });

  it("turns on what the hour of conversations itself does for ten minutes, and on nothing else in it", () => {
    // Planned for the hour's mean, the rate is off by a third in two windows in a row, and answers are of other lengths.
    const { alarms, first } = run(reference, traceWindows(conversations));
    expect(alarms).toBe(2);
    expect(first?.names).toEqual([RATE, OUTPUT]);
  });
});
