import type { BadLine, Outcome, PromptSurvey } from "@/server/contracts/studio";
import { countStrata, type StrataCount } from "@/solver/prompts/countStrata";
import { CUT_PROMPT } from "./promptLine";
import { factsOf } from "./promptOf";
import { type PromptFile, readPrompts } from "./readPrompts";

/** Most skipped lines that are listed. */
const TOLD_LINES = 20;

export interface SurveyedPrompts {
  readonly survey: PromptSurvey;
  readonly strata: StrataCount;
}

/** Reads a file of prompts once and says what is in it; refused in one sentence where not one prompt is. */
export async function surveyPrompts(file: PromptFile): Promise<Outcome<SurveyedPrompts>> {
  const strata = countStrata();
  const badLines: BadLine[] = [];
  const counts = { prompts: 0, skipped: 0, cutPrompts: 0, withTime: 0, withReference: 0, withTest: 0, multiTurn: 0, withTools: 0 };
  let characters = 0;
  const read = await readPrompts(file, {
    prompt(prompt) {
      const facts = factsOf(prompt);
      strata.add(facts);
      characters += facts.characters;
      counts.prompts += 1;
      if (prompt.atMs !== null) counts.withTime += 1;
      if (prompt.reference !== null) counts.withReference += 1;
      if (prompt.test !== null) counts.withTest += 1;
      if (facts.isMultiTurn) counts.multiTurn += 1;
      if (facts.hasTools) counts.withTools += 1;
      return null;
    },
    skipped(line, problem) {
      counts.skipped += 1;
      if (problem === CUT_PROMPT) counts.cutPrompts += 1;
      if (badLines.length < TOLD_LINES) badLines.push({ line, problem });
    },
  });
  if (!read.ok) return read;
  const [first] = badLines;
  if (counts.prompts === 0) {
    const why = first === undefined ? "it is empty" : `line ${first.line}: ${first.problem}`;
    return { ok: false, message: `${file.name} has no line that can be taken as a prompt; ${why}.` };
  }
  const survey = { ...counts, form: read.form, badLines, categories: strata.categories(), meanCharacters: characters / counts.prompts };
  return { ok: true, survey, strata };
}
