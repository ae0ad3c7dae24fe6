/** One measured session of a model: its prompts sent to an engine that then has nothing else, until the last answer. One without prompts is a load alone. */
export interface SessionRow {
  readonly model: string;
  readonly gpu: string;
  /** GPUs of the engine. */
  readonly tp: number;
  readonly prompts: number;
  /** Requests in flight at most, by whoever sent them; null: all at once. */
  readonly concurrency: number | null;
  readonly meanOutputTokens: number;
  readonly maxOutputTokens: number;
  /** From the first prompt to the last answer. */
  readonly seconds: number;
  /** From an empty GPU to an engine that answers; null: not measured. */
  readonly loadSeconds: number | null;
  /** `emulated`: of emulated engines, whose times the planner's own model made. */
  readonly origin: "measured" | "emulated";
}

/** What bounds requests in flight beside the number of prompts. */
export interface FlightLimits {
  /** Of whoever sends them; null: all at once. */
  readonly concurrency: number | null;
  /** Of the engine. */
  readonly maxSequences: number;
}

/** Whether a session had as many requests in flight as one of so many prompts has within these limits: others say nothing of how long that one takes. */
export function ranWithin({ prompts, concurrency }: Pick<SessionRow, "prompts" | "concurrency">, limits: FlightLimits): boolean {
  const inFlight = (most: number | null): number => Math.min(prompts, limits.maxSequences, most ?? prompts);
  return inFlight(concurrency) === inFlight(limits.concurrency);
}
