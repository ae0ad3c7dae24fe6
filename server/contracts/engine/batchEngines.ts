/** Identifies an engine of a batch: the `turn`-th that a worker loads in a stage. */
interface BatchTurn {
  readonly stage: "experts" | "aggregator";
  readonly worker: number;
  readonly turn: number;
}

const BATCH_ENGINE = /^batch-([0-9a-f]{8})-(?:experts|aggregator)-w\d+-\d+$/;

/** The first eight digits of a batch's id. The ids of its engines contain them. */
export const batchPrefix = (batchId: string): string => batchId.slice(0, 8);

/** The prefix of the batch that an engine was started for; null if it was started for none. */
export const batchOfEngine = (engineId: string): string | null => BATCH_ENGINE.exec(engineId)?.[1] ?? null;

/** The id of an engine of a batch: the same each time it is loaded, so that an engine left by a killed studio is recognised. */
export const batchEngineId = (batchId: string, { stage, worker, turn }: BatchTurn): string =>
  `batch-${batchPrefix(batchId)}-${stage}-w${worker}-${turn}`;
