import { type Characteristic, type DriftReference, driftedIn, driftReference, observeWindow, steadyState } from "../numeric/drift";
import { mixSeed, seededRandom } from "../numeric/random";
import type { ObservedRequest } from "../workload/similarRows";
import type { OutcomeTable, RequestSample } from "../workload/workload";

/** How traffic is watched (Cascadia, section 4.4, footnote 5): windows, and the share of requests that all models of the plan answer. */
export interface Watching {
  readonly windowSeconds: number;
  /** 0: only the rate is seen. */
  readonly mirrorShare: number;
}

/** What a plan expects of the traffic. */
export interface Expected {
  readonly requestsPerSecond: number;
  /** Recorded arrivals, unscaled. */
  readonly arrivalSeconds: Float64Array;
  /** Planning prompts and, of each model of the plan, their scores. */
  readonly outcomes: OutcomeTable;
  readonly models: readonly string[];
}

/** What was seen when the drift test said that the traffic is no longer the expected one. */
export interface Drifted {
  /** End of the window. */
  readonly atSeconds: number;
  /** Of the last window. */
  readonly requestsPerSecond: number;
  /** Requests of the last two windows that all models of the plan answered. */
  readonly mirrored: readonly ObservedRequest[];
  /** Names of what has drifted. */
  readonly what: readonly string[];
}

/** Windows whose requests the next plan is made from: as many as a judgement takes. */
const RECENT_WINDOWS = 2;

/** Requests of `sample` that are mirrored: the same for all plans. */
export function mirroredRequests(requests: number, { mirrorShare }: Watching, seed: number): Uint8Array {
  const random = seededRandom(mixSeed(seed, "mirror"));
  return Uint8Array.from({ length: requests }, () => (random.next() < mirrorShare ? 1 : 0));
}

/**
 * Watches traffic by the studio's own drift test (`observeWindow`), window after window, and returns when it first says that something has
 * drifted: the rate from all requests; prompt lengths and each model's scores from the mirrored ones. Answers count as known when the
 * window in which their request arrived has ended.
 *
 * @param from the start of the first window, in seconds.
 * @returns null where nothing drifts to the end.
 */
export function firstDrift(
  { sample, outcomes }: { readonly sample: RequestSample; readonly outcomes: OutcomeTable },
  expected: Expected,
  {
    watching,
    mirrored,
    from,
    seed,
  }: { readonly watching: Watching; readonly mirrored: Uint8Array; readonly from: number; readonly seed: number },
): Drifted | null {
  const { windowSeconds, mirrorShare } = watching;
  const reference = referenceOf(expected, mirrorShare > 0, seed);
  const ends = sample.arrivalSeconds.at(-1) ?? 0;
  let state = steadyState(reference);
  let recent: ObservedRequest[][] = [];
  let next = sample.arrivalSeconds.findIndex((seconds) => seconds >= from);
  for (let until = from + windowSeconds; next >= 0 && until <= ends; until += windowSeconds) {
    const seen: ObservedRequest[] = [];
    let requests = 0;
    for (; (sample.arrivalSeconds[next] ?? Number.POSITIVE_INFINITY) < until; next += 1, requests += 1)
      if (mirrored[next] === 1) seen.push(observed(outcomes, expected.models, sample.prompt[next] ?? 0, sample.arrivalSeconds[next] ?? 0));
    recent = [...recent, seen].slice(-RECENT_WINDOWS);
    state = observeWindow(reference, state, { requests, seconds: windowSeconds, samples: samplesOf(seen, expected.models) });
    const what = driftedIn(state);
    if (what.length > 0) return { atSeconds: until, requestsPerSecond: requests / windowSeconds, mirrored: recent.flat(), what };
  }
  return null;
}

function referenceOf({ requestsPerSecond, arrivalSeconds, outcomes, models }: Expected, isMirrored: boolean, seed: number): DriftReference {
  const scores = models.map(
    (model): Characteristic => ({
      name: scoreName(model),
      kind: "score",
      model,
      values: outcomes.models.find((column) => column.model === model)?.judged ?? [],
    }),
  );
  const characteristics: Characteristic[] = isMirrored
    ? [{ name: INPUT_TOKENS, kind: "tokens", values: outcomes.inputTokens }, ...scores]
    : [];
  return driftReference({ requestsPerSecond, arrivalSeconds, characteristics }, seed);
}

const INPUT_TOKENS = "input tokens";

const scoreName = (model: string): string => `score of ${model}`;

const samplesOf = (seen: readonly ObservedRequest[], models: readonly string[]): Readonly<Record<string, readonly number[]>> => ({
  [INPUT_TOKENS]: seen.flatMap(({ inputTokens }) => inputTokens ?? []),
  ...Object.fromEntries(
    models.map((model) => [scoreName(model), seen.flatMap(({ visits }) => visits.find((visit) => visit.model === model)?.judged ?? [])]),
  ),
});

const observed = (outcomes: OutcomeTable, models: readonly string[], row: number, arrivalSeconds: number): ObservedRequest => ({
  arrivalSeconds,
  inputTokens: outcomes.inputTokens[row] ?? null,
  visits: outcomes.models
    .filter(({ model }) => models.includes(model))
    .map(({ model, outputTokens, judged }) => ({ model, outputTokens: outputTokens[row] ?? null, judged: judged[row] ?? null })),
});

/**
 * The traffic with its mirrored requests sent a second time, in an outcome table where their scores are below every threshold: they
 * pass through every stage of the plan in force. So they load its engines; their latencies and answers count for nobody.
 *
 * @returns `mirror`: 1 for those added.
 */
export function withMirror(
  { sample, outcomes }: { readonly sample: RequestSample; readonly outcomes: OutcomeTable },
  mirrored: Uint8Array,
): { readonly sample: RequestSample; readonly outcomes: OutcomeTable; readonly mirror: Uint8Array } {
  const rows = outcomes.promptIds.length;
  const tokensTwice = (tokens: Int32Array): Int32Array => Int32Array.from([...tokens, ...tokens]);
  const order = Array.from(sample.prompt, (prompt, at) => ({ at, prompt, mirror: 0 })).flatMap((one) =>
    mirrored[one.at] === 1 ? [one, { ...one, prompt: one.prompt + rows, mirror: 1 }] : [one],
  );
  return {
    sample: {
      arrivalSeconds: Float64Array.from(order, ({ at }) => sample.arrivalSeconds[at] ?? 0),
      prompt: Int32Array.from(order, ({ prompt }) => prompt),
    },
    outcomes: {
      promptIds: [...outcomes.promptIds, ...outcomes.promptIds.map((id) => `${id} mirrored`)],
      categories: [...outcomes.categories, ...outcomes.categories],
      inputTokens: tokensTwice(outcomes.inputTokens),
      models: outcomes.models.map(({ model, tableName, outputTokens, label, judged }) => ({
        model,
        tableName,
        outputTokens: tokensTwice(outputTokens),
        label: Float64Array.from([...label, ...label]),
        judged: Float64Array.from([...judged, ...judged.map(() => BELOW_ALL)]),
      })),
    },
    mirror: Uint8Array.from(order, ({ mirror }) => mirror),
  };
}

/** Below every threshold, which are 0 to 100. */
const BELOW_ALL = -1;
