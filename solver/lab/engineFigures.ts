import type { ReplicaModel } from "../engine/replicaModel";
import { saturationRate } from "../engine/saturation";
import type { ProgramSample } from "../workflow/programSample";

/** A model's engines in a run. */
export interface LabEngines {
  readonly model: string;
  /** Each shape of them with its number. */
  readonly replicas: readonly { readonly replica: ReplicaModel; readonly count: number }[];
}

/** A policy's figures of a model's engines. */
export interface EngineFigures {
  /** Number of engines. */
  readonly engines: number;
  /** Number of requests that one replica decodes at once. */
  readonly maxBatchSize: number;
  /** Time between tokens of a request in a batch of that size. */
  readonly decodeSecondsPerToken: number;
  /** Decoding of one request of mean length that is alone. */
  readonly unloadedSeconds: number;
}

/** Mean tokens of requests. */
export interface MeanTokens {
  readonly input: number;
  readonly output: number;
}

/**
 * Figures of a model's engines from their own model of step times, for requests of mean length, half of whose answer is written. The batch
 * is as large as sequences and KV cache allow, and a token's time is that of a decode step of the whole batch, so that future tokens times
 * this time divided by the batch are the seconds to write them. With several shapes the mean over replicas.
 *
 * @throws RangeError without replicas.
 */
export function engineFigures({ model, replicas }: LabEngines, tokens: MeanTokens): EngineFigures {
  const all = replicas.reduce((sum, { count }) => sum + count, 0);
  if (all === 0) throw new RangeError(`No engine of ${model} to read figures from`);
  const figures = replicas.map(({ replica, count }) => ({ of: oneReplica(replica, tokens), share: count / all }));
  const over = (read: (of: Omit<EngineFigures, "engines">) => number): number =>
    figures.reduce((sum, { of, share }) => sum + share * read(of), 0);
  return {
    engines: all,
    maxBatchSize: Math.max(1, Math.round(over(({ maxBatchSize }) => maxBatchSize))),
    decodeSecondsPerToken: over(({ decodeSecondsPerToken }) => decodeSecondsPerToken),
    unloadedSeconds: over(({ unloadedSeconds }) => unloadedSeconds),
  };
}

function oneReplica({ stepTime, maxSequences, kvTokens }: ReplicaModel, { input, output }: MeanTokens): Omit<EngineFigures, "engines"> {
  const context = input + output / 2;
  const maxBatchSize = Math.max(1, Math.min(maxSequences, Math.floor(kvTokens / context)));
  const step = (sequences: number): number => stepTime.decodeBaseSeconds(sequences) + sequences * context * stepTime.secondsPerKvToken;
  return { maxBatchSize, decodeSecondsPerToken: step(maxBatchSize), unloadedSeconds: output * step(1) };
}

/** Mean input and output tokens of a sample's requests, all answered by one model. */
export function meanTokens(sample: ProgramSample, model: number): MeanTokens {
  const { inputTokens, outputTokens } = requestsOn(sample, model);
  const meanOf = (values: Int32Array): number => values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  return { input: meanOf(inputTokens), output: meanOf(outputTokens) };
}

/**
 * Number of batches over which an engine is timed: a few long answers stay in a batch for many times the mean, and it takes as long until
 * their number in it is stationary.
 */
const SATURATION_BATCHES = 80;

/**
 * Programs a second that engines finish when they always have work, summed over models: with more, queues grow whatever the policy. vLLM's
 * balancing reaches it within about a tenth; a policy that leaves engines idle saturates earlier, and one model alone at its own part. Each
 * shape is timed once, on requests of the sample repeatedly, and counts by its number of engines. 0 where no engine has room for a request.
 */
export function capacityOf(engines: readonly LabEngines[], sample: ProgramSample): number {
  const requestsAProgram = sample.program.length / sample.arrivalSeconds.length;
  const requests = engines.reduce((sum, { model, replicas }) => {
    const work = requestsOn(sample, sample.models.indexOf(model));
    return replicas.reduce((all, { replica, count }) => all + count * requestRate(replica, work), sum);
  }, 0);
  return requests / requestsAProgram;
}

/** Requests a second of one engine at saturation; 0 where it has no room for one. */
function requestRate(replica: ReplicaModel, { inputTokens, outputTokens }: Lengths): number {
  const count = Math.max(inputTokens.length, SATURATION_BATCHES * replica.maxSequences);
  const take = (values: Int32Array): Int32Array => Int32Array.from({ length: count }, (_, index) => values[index % values.length] ?? 0);
  return saturationRate(replica, { inputTokens: take(inputTokens), outputTokens: take(outputTokens) }, count) ?? 0;
}

/** Lengths of requests, in parallel arrays. */
export interface Lengths {
  readonly inputTokens: Int32Array;
  readonly outputTokens: Int32Array;
}

/** Lengths of a sample's requests where one model answers all: the answers they read are its own. */
export function requestsOn(sample: ProgramSample, model: number): Lengths {
  const outputTokens = sample.outputTokens[model] ?? new Int32Array(sample.program.length);
  const inputTokens = sample.givenTokens.map((given, request) => {
    const program = sample.program[request] ?? 0;
    const first = sample.firstRequest[program] ?? 0;
    const reads = sample.workflows[sample.workflow[program] ?? 0]?.stages[request - first]?.reads ?? [];
    return reads.reduce((sum, stage) => sum + (outputTokens[first + stage] ?? 0), given);
  });
  return { inputTokens, outputTokens };
}
