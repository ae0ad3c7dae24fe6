import type { PromptForm, PromptSurvey } from "@/server/contracts/studio";
import { formatCount, formatCounted, formatPercent } from "../ui/format";

const formWords: Readonly<Record<PromptForm, string>> = {
  batch: "OpenAI batch lines",
  chat: "chat lines",
  record: "decision records",
  csv: "CSV",
};

/** Categories drawn; the rest is merged into one line. */
const MOST_CATEGORIES = 8;

interface SurveyCategory {
  readonly name: string;
  readonly prompts: number;
  /** Of all prompts, 0..1. */
  readonly share: number;
}

export interface SurveyPicture {
  /** `1,000,000 prompts in OpenAI batch lines, 3 lines skipped`. */
  readonly says: string;
  readonly facts: readonly { readonly name: string; readonly value: string; readonly detail: string }[];
  readonly categories: readonly SurveyCategory[];
  /** Lines left out beyond those that are listed; 0: all are. */
  readonly moreBadLines: number;
  /** What cannot be measured with these prompts, one sentence each. */
  readonly lacks: readonly string[];
}

/** Approximate characters per token of English text, for a first estimate. */
const CHARACTERS_PER_TOKEN = 4;

/** The display of a file of prompts before a sample is taken. */
export function prepareSurvey(survey: PromptSurvey): SurveyPicture {
  const { prompts, skipped, badLines, withReference, withTest, withTime, multiTurn, withTools, meanCharacters, cutPrompts } = survey;
  const share = (count: number): string => (prompts === 0 ? "" : formatPercent(count / prompts));
  const shown = survey.categories.slice(0, MOST_CATEGORIES);
  const rest = survey.categories.slice(MOST_CATEGORIES);
  const restPrompts = rest.reduce((sum, each) => sum + each.prompts, 0);
  return {
    says: `${formatCounted(prompts, "prompt")} in ${formWords[survey.form]}${skipped === 0 ? "" : `, ${formatCounted(skipped, "line")} skipped`}.`,
    facts: [
      {
        name: "Mean length",
        value: `${formatCount(Math.round(meanCharacters))} characters`,
        detail: `about ${formatCount(Math.round(meanCharacters / CHARACTERS_PER_TOKEN))} tokens`,
      },
      { name: "With a reference answer", value: formatCount(withReference), detail: share(withReference) },
      { name: "With a test", value: formatCount(withTest), detail: share(withTest) },
      { name: "With tools", value: formatCount(withTools), detail: share(withTools) },
      { name: "Of several turns", value: formatCount(multiTurn), detail: share(multiTurn) },
      { name: "With a time", value: formatCount(withTime), detail: share(withTime) },
    ],
    categories: [
      ...shown.map(({ name, prompts: count }) => ({ name: name || "without a category", prompts: count, share: count / prompts })),
      ...(rest.length === 0 ? [] : [{ name: `${rest.length} more`, prompts: restPrompts, share: restPrompts / prompts }]),
    ],
    moreBadLines: Math.max(0, skipped - badLines.length),
    lacks: [
      ...(withReference === 0 && withTest === 0
        ? [
            "None has a reference answer or a test: quality can only come from judges. A field reference on each line would let answers be compared.",
          ]
        : []),
      ...(cutPrompts > 0
        ? [
            `${formatCounted(cutPrompts, "record")} kept only the start of the prompt and ${cutPrompts === 1 ? "is" : "are"} left out: a model would be asked something else.`,
          ]
        : []),
    ],
  };
}
