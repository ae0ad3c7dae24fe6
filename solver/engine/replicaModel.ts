import type { Provenance } from "./provenance";

/**
 * Time of one engine step. Decode is split so that many steps can be jumped over in closed form: with n sequences and K
 * cached tokens a decode step takes `decodeBaseSeconds(n) + K * secondsPerKvToken`, and K grows by n a step.
 */
export interface StepTime {
  decodeBaseSeconds(sequences: number): number;
  readonly secondsPerKvToken: number;
  /** A step that carries prefill work beside the decodes: see `StepLoad`. */
  mixedStepSeconds(load: StepLoad): number;
  readonly provenance: readonly Provenance[];
}

/** What one step computes. */
export interface StepLoad {
  /** Tokens through the linear layers: prefill tokens of the chunk plus one per decoding sequence. */
  readonly tokens: number;
  /** Of these, the tokens of prompts. */
  readonly prefillTokens: number;
  /** Query-key pairs of the prefill chunk's attention. */
  readonly prefillPairs: number;
  /** Cached tokens read by decoding sequences. */
  readonly kvTokensRead: number;
  readonly sequences: number;
}

/** Everything the simulator knows of one replica: its step time and its bounds. */
export interface ReplicaModel {
  readonly stepTime: StepTime;
  /** KV cache capacity in tokens. */
  readonly kvTokens: number;
  readonly maxSequences: number;
  /** Token budget of one step under chunked prefill. */
  readonly maxBatchedTokens: number;
  /** Seconds, 0 or more, that the front end (HTTP, tokenising) works on a request before it enters the engine, one request at a time. */
  requestSeconds(inputTokens: number): number;
  /** Seconds, 0 or more, that the front end works on each generated token (detokenising, streaming); 0 when left out. */
  readonly tokenSeconds?: number;
  /** Seconds, 0 or more, by which clients see first tokens and ends later than that, where requests do not wait for one another; 0 when left out. */
  readonly delaySeconds?: number;
  /** Left out: requests that others keep passing by priority may wait for ever. */
  readonly aging?: EngineAging;
}

/** What keeps an engine that serves by priority from starving requests (Chimera, section 3.7); both are whole numbers of at least 1. */
export interface EngineAging {
  /** Consecutive steps that did not take a waiting request, after which it goes ahead of all that have not waited so long. */
  readonly starvedSteps: number;
  /** Steps of service after which it no longer counts as ahead. */
  readonly quantumSteps: number;
}
