/** One measured session of a model: all its prompts sent at once to an engine that then has nothing else, until the last answer. */
export interface SessionRow {
  readonly model: string;
  readonly gpu: string;
  /** GPUs of the engine. */
  readonly tp: number;
  readonly prompts: number;
  readonly meanOutputTokens: number;
  readonly maxOutputTokens: number;
  /** From the first prompt to the last answer. */
  readonly seconds: number;
  /** From an empty GPU to an engine that answers; null: not measured. */
  readonly loadSeconds: number | null;
  /** `emulated`: of emulated engines, whose times the planner's own model made. */
  readonly origin: "measured" | "emulated";
}
