import type { GatedRequest } from "./programGates";

/** The outcome of every program and request of a `ProgramSample`. Arrays are parallel to the sample's programs or requests. */
export interface ProgramOutcome {
  /** Per program, arrival to the last answer its client waits for; Infinity for one that was not completely served. */
  readonly endToEndSeconds: Float64Array;
  /** Per program, the output tokens of its requests. */
  readonly outputTokens: Int32Array;
  /** Per program, the total seconds its requests waited between being ready and entering an engine's batch. */
  readonly queueSeconds: Float64Array;
  /** Per program, its quality 0..100; NaN for one not completely served or of unknown quality. */
  readonly quality: Float64Array;
  /** Per request, the model that answered, by index into the sample's models; -1 for none. */
  readonly model: Int8Array;
  /** Per request, when it was ready: the answers it reads were available. NaN where it never was. */
  readonly readySeconds: Float64Array;
  /** Per request, from ready to first entering an engine's batch; NaN where it never did. */
  readonly waitSeconds: Float64Array;
  /** Per request, from ready to its accepted answer, scores included; NaN where it has none. */
  readonly answerSeconds: Float64Array;
  /** Per request, from ready to the first token of the answer that was accepted; NaN where it has none. */
  readonly firstTokenSeconds: Float64Array;
  /** First arrival to the last answer. */
  readonly horizonSeconds: number;
  /** Programs not completely served. */
  readonly unserved: number;
  readonly preemptions: number;
  /** Requests that an engine preempted from its batch at least once. */
  readonly preemptedRequests: number;
  /** Number of times an engine put a request ahead because it had waited too long. */
  readonly promotions: number;
  /** Number of calls of the policy. */
  readonly decisions: number;
  /** Decisions on requests that may be skipped where the answers they read agree; a skipped one has no model. */
  readonly gated: readonly GatedRequest[];
  /** By model, mean share of the horizon in which its replicas had a running step. */
  readonly busyShare: readonly number[];
  /** By model, mean utilisation of its replicas over the horizon, in sequences or KV cache. */
  readonly fullShare: readonly number[];
  /** By model, share of its prompts' tokens that its engines found in their prefix caches, 0..1; left out where they keep none. */
  readonly prefixHitShare?: readonly number[];
}
