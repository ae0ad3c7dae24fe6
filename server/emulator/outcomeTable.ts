import { type EmulatedOutcomes, emulatedOutcomesSchema } from "@/server/contracts/engine/emulatorAdmin";
import type { Outcome } from "@/server/contracts/studio";
import { mixSeed } from "@/solver/numeric/random";
import { answerLetter } from "./emulatedAnswer";

/** A model's outcome for one prompt. */
export interface OutcomeRow {
  readonly promptId: string;
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Its final answer; empty: none that could be read. */
  readonly answer: string;
}

/** The prompts whose outcomes the emulated engines replay. */
export interface OutcomeTable {
  readonly outcomes: EmulatedOutcomes;
  /** The row of the prompt that `text` names by `[prompt <id>]`, or else one chosen by a hash of the text. null: no rows for the model. */
  row(model: string, text: string): OutcomeRow | null;
  /** The judged score of a model's answer to a prompt; null if either is unknown. */
  judged(promptId: string, model: string): number | null;
  /** Its quality; null if either is unknown. */
  label(promptId: string, model: string): number | null;
}

export type BookResult = Outcome<{ readonly book: OutcomeTable }>;

const PROMPT_TAG = /^\s*\[prompt ([^\]\n]+)\]/;

/** The prompt that a text names by `[prompt <id>]`; null if it names none. */
export const namedPrompt = (text: string): string | null => PROMPT_TAG.exec(text)?.[1] ?? null;

/** Validates outcomes and indexes them; refuses with a sentence those that could not be replayed. */
export function createOutcomeBook(body: unknown): BookResult {
  const parsed = emulatedOutcomesSchema.safeParse(body);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return { ok: false, message: `Outcomes field ${issue?.path.join(".") || "(body)"}: ${issue?.message}` };
  }
  const outcomes = parsed.data;
  const problem = inconsistency(outcomes);
  if (problem !== null) return { ok: false, message: problem };

  const rowOf = new Map(outcomes.promptIds.map((id, row) => [id, row]));
  const byModel = new Map(outcomes.models.map((model) => [model.model, model]));
  return {
    ok: true,
    book: {
      outcomes,
      row(model, text) {
        const known = byModel.get(model);
        const at = rowOf.get(namedPrompt(text) ?? "") ?? mixSeed(text) % outcomes.promptIds.length;
        const promptId = outcomes.promptIds[at];
        const inputTokens = outcomes.inputTokens[at];
        const outputTokens = known?.outputTokens[at];
        if (promptId === undefined || inputTokens === undefined || outputTokens === undefined) return null;
        const answer = known?.answer?.[at] ?? answerLetter(promptId, model, known?.label[at] ?? 0);
        return { promptId, inputTokens, outputTokens, answer };
      },
      judged: (promptId, model) => byModel.get(model)?.judged[rowOf.get(promptId) ?? -1] ?? null,
      label: (promptId, model) => byModel.get(model)?.label[rowOf.get(promptId) ?? -1] ?? null,
    },
  };
}

function inconsistency(outcomes: EmulatedOutcomes): string | null {
  const prompts = outcomes.promptIds.length;
  // Ids appear inside square brackets in prompts and answers.
  const unfit = outcomes.promptIds.find((id) => id === "" || /[\]\n]/.test(id));
  if (unfit !== undefined) return `Outcomes field promptIds: ${JSON.stringify(unfit)} is empty or holds "]" or a line break`;
  if (new Set(outcomes.promptIds).size !== prompts) return "Outcomes field promptIds: an id occurs twice";
  if (outcomes.inputTokens.length !== prompts) {
    return `Outcomes field inputTokens: ${outcomes.inputTokens.length} values for ${prompts} prompts`;
  }
  for (const model of outcomes.models) {
    for (const field of ["outputTokens", "label", "judged", "answer"] as const) {
      const found = model[field]?.length;
      if (found !== undefined && found !== prompts)
        return `Outcomes field models.${model.model}.${field}: ${found} values for ${prompts} prompts`;
    }
  }
  return null;
}
