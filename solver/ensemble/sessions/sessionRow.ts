/**
 * One measured session of a model: its prompts sent to an engine without other work, until the last answer. A session without prompts is
 * only a load.
 */
export interface SessionRow {
  readonly model: string;
  readonly gpu: string;
  /** GPUs of the engine. */
  readonly tp: number;
  readonly prompts: number;
  /** Maximum number of requests in flight of the sender; null: all at once. */
  readonly concurrency: number | null;
  readonly meanOutputTokens: number;
  readonly maxOutputTokens: number;
  /** From the first prompt to the last answer. */
  readonly seconds: number;
  /** From an empty GPU to an engine that answers; null: not measured. */
  readonly loadSeconds: number | null;
  /** `emulated`: of emulated engines, whose times are from the planner's own model. */
  readonly origin: "measured" | "emulated";
}

/** Limits on requests in flight in addition to the number of prompts. */
export interface FlightLimits {
  /** The sender's limit; null: all at once. */
  readonly concurrency: number | null;
  /** The engine's limit. */
  readonly maxSequences: number;
}

/** Whether a session had as many requests in flight as one of so many prompts has within these limits: others do not predict its time. */
export function ranWithin({ prompts, concurrency }: Pick<SessionRow, "prompts" | "concurrency">, limits: FlightLimits): boolean {
  const inFlight = (most: number | null): number => Math.min(prompts, limits.maxSequences, most ?? prompts);
  return inFlight(concurrency) === inFlight(limits.concurrency);
}
