import { chooseMapping } from "./chooseMapping";
import { parsePromText } from "./promText";
import { type Reading, readCanonicalMetrics } from "./readCanonicalMetrics";

export type Found<Value> = { readonly found: true; readonly value: Value } | { readonly found: false; readonly lookedFor: string };

/** A counter, and the series in it: the sum of other series is another count. */
export interface EngineCount {
  readonly count: number;
  readonly series: number;
}

export interface EngineMemory {
  /** Share of the KV cache in use, 0..1; of the fullest part if an engine has several. */
  readonly kvUse: Found<number>;
  /** Capacity of the KV cache in tokens, all parts together. */
  readonly kvTokens: Found<number>;
  /** Requests removed from the batch for lack of memory since the engine started. */
  readonly preemptions: Found<EngineCount>;
}

/** Reads the KV cache's values from an engine's exposition, under the names of common engines. Each may be missing by itself. */
export function readEngineMemory(text: string): EngineMemory {
  const metrics = parsePromText(text);
  const mapping = chooseMapping(metrics, null);
  const { kvUse, kvCapacityTokens, preemptions } = mapping === undefined ? unknownEngine : readCanonicalMetrics(metrics, mapping);
  const kvTokens = found(kvCapacityTokens, "the size of a KV cache of a known engine type", (value) => value);
  return {
    kvUse: found(kvUse, "a KV metric of a known engine type", ({ max }) => max),
    // An engine that has not allocated its cache yet exports 0; one without a cache could not serve.
    kvTokens: kvTokens.found && kvTokens.value <= 0 ? { found: false, lookedFor: "a size of the KV cache above 0" } : kvTokens,
    preemptions: found(preemptions, "a count of preemptions of a known engine type", (count, series) => ({ count, series })),
  };
}

const notApplicable = { state: "not-applicable" } as const;
const unknownEngine = { kvUse: notApplicable, kvCapacityTokens: notApplicable, preemptions: notApplicable };

function found<Value, Kept>(reading: Reading<Value>, anyName: string, kept: (value: Value, series: number) => Kept): Found<Kept> {
  if (reading.state === "value") return { found: true, value: kept(reading.value, reading.series) };
  return { found: false, lookedFor: reading.state === "absent" ? reading.lookedFor : anyName };
}
