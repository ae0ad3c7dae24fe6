/** What became of every program and request of a `ProgramSample`. Arrays are parallel to the sample's programs or requests. */
export interface ProgramOutcome {
  /** Of each program, arrival to the last answer its client waits for; Infinity for one that was not served whole. */
  readonly endToEndSeconds: Float64Array;
  /** Of each program, the tokens that its requests' answers hold. */
  readonly outputTokens: Int32Array;
  /** Of each program, the seconds its requests waited between being ready and entering an engine's batch, summed. */
  readonly queueSeconds: Float64Array;
  /** Of each program, 0..100; NaN for one not served whole or of unknown quality. */
  readonly quality: Float64Array;
  /** Of each request, the model that answered, by index into the sample's models; -1 where none did. */
  readonly model: Int8Array;
  /** Of each request, when its answer could be asked for: those it reads are there. NaN where it never was. */
  readonly readySeconds: Float64Array;
  /** Of each request, from ready to first entering an engine's batch; NaN where it never did. */
  readonly waitSeconds: Float64Array;
  /** First arrival to the last answer. */
  readonly horizonSeconds: number;
  /** Programs not served whole. */
  readonly unserved: number;
  readonly preemptions: number;
  /** Requests that an engine took out of its batch for want of memory once or more. */
  readonly preemptedRequests: number;
  /** Times an engine put a request ahead because it had waited too long. */
  readonly promotions: number;
  /** Times the policy was asked what to do. */
  readonly decisions: number;
  /** By model, mean share of the horizon in which its replicas had a step under way. */
  readonly busyShare: readonly number[];
  /** By model, mean share of what its replicas may hold, in sequences or KV cache, that they held over the horizon. */
  readonly fullShare: readonly number[];
}
