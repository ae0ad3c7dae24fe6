import type { Provenance } from "./provenance";

/**
 * Time of one engine step. The decode time is split so that many steps can be computed in closed form: with n sequences and K
 * cached tokens a decode step takes `decodeBaseSeconds(n) + K * secondsPerKvToken`, and K grows by n a step.
 */
export interface StepTime {
  decodeBaseSeconds(sequences: number): number;
  readonly secondsPerKvToken: number;
  /** A step with prefill work in addition to the decodes: see `StepLoad`. */
  mixedStepSeconds(load: StepLoad): number;
  readonly provenance: readonly Provenance[];
}

/** The work of one step. */
export interface StepLoad {
  /** Tokens through the linear layers: prefill tokens of the chunk plus one per decoding sequence. */
  readonly tokens: number;
  /** The prompt tokens among these. */
  readonly prefillTokens: number;
  /** Query-key pairs of the prefill chunk's attention. */
  readonly prefillPairs: number;
  /** Cached tokens read by decoding sequences. */
  readonly kvTokensRead: number;
  readonly sequences: number;
}

/** The simulator's model of one replica: its step time and its bounds. */
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
  /** Further seconds, 0 or more, until clients see first tokens and ends, without mutual waiting of requests; 0 when left out. */
  readonly delaySeconds?: number;
  /** How the engine's pace varies slowly about its mean: other work on its host, clocks. Left out: it does not. */
  readonly paceVariation?: PaceVariation;
  /** Left out: requests that others always precede by priority may wait for ever. */
  readonly aging?: EngineAging;
  /** Left out: a running request is never taken out for a more urgent one, and its priority stays. */
  readonly feedback?: EngineFeedback;
}

/** Settings of feedback over levels by consumed service, with preemption (Chimera, section 4.2: MLFQ). */
export interface EngineFeedback {
  /** Steps of service at each level after which a request goes down to the next; the level after the last has no end. */
  readonly quantaSteps: readonly number[];
}

/** Settings that keep an engine that serves by priority from starving requests (Chimera, section 3.7); both are at least 1. */
export interface EngineAging {
  /** Consecutive steps that did not admit a waiting request, after which it goes ahead of all that have not waited so long. */
  readonly starvedSteps: number;
  /** Steps of service after which it no longer counts as ahead. */
  readonly quantumSteps: number;
}

/** Every step takes a lognormal factor of mean 1 longer, the same factor for all steps that begin within a stretch of time. */
export interface PaceVariation {
  /** Number of the stretch at 0 s, whole, 0 or more: another one has other factors. 0 when left out. */
  readonly firstStretch?: number;
  /** Standard deviation of the factor's logarithm, 0 or more. */
  readonly deviation: number;
  /** Length of a stretch, above 0. */
  readonly seconds: number;
}
