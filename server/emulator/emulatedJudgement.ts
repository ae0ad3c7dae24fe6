import { mixSeed } from "@/solver/numeric/random";
import { readAnswerTag } from "./emulatedAnswer";
import { syntheticProbabilities } from "./emulatedTokens";
import type { Generation } from "./generation";
import type { OutcomeTable } from "./outcomeTable";

/** Approximate characters per token: prompts and answers of emulations are written to that length. */
const CHARACTERS_PER_TOKEN = 4;

/**
 * An emulated judge's answer to a text: the outcome table's judged score, or label, of the emulated answer whose tag is in it, as a bare
 * integer. Text without a known tag is scored by a hash: an arbitrary number, the same every time.
 */
export function emulatedJudgement(book: OutcomeTable, text: string, read: "judged" | "label" = "judged"): Generation {
  const tag = readAnswerTag(text);
  const known = tag === null ? null : book[read](tag.promptId, tag.model);
  const score = Math.min(100, Math.max(0, Math.round(known ?? mixSeed(text) % 101)));
  return {
    prompt: text,
    inputTokens: Math.max(1, Math.ceil(text.length / CHARACTERS_PER_TOKEN)),
    outputTokens: 1,
    token: (index) => (index === 0 ? String(score) : ""),
    ...syntheticProbabilities(text, null),
  };
}
