import { type Batcher, createBatcher } from "./batcher";
import { createEngineMetrics, type EngineMetrics } from "./engineMetrics";
import type { LoadedModel } from "./loadedModel";
import type { EngineSettings } from "./settings";

/** A loaded model with its batch and its metrics. */
export interface Engine {
  readonly model: LoadedModel;
  readonly batcher: Batcher;
  readonly metrics: EngineMetrics;
}

export function createEngine(model: LoadedModel, { alias, batchTokens, queue }: EngineSettings): Engine {
  const { sequences, contextTokens } = model;
  const batcher = createBatcher({ sequences, batchTokens, queue });
  const levels = () => ({ running: batcher.running, waiting: batcher.waiting, cachedTokens: batcher.cachedTokens() });
  return { model, batcher, metrics: createEngineMetrics({ model: alias, sequences: sequences.length, contextTokens, levels }) };
}
