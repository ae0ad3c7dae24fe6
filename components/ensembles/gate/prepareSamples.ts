import type { Tone } from "@/components/ui/Badge";
import type { Option } from "@/components/ui/Field";
import { formatCounted, formatDate } from "@/components/ui/format";
import type { AnswerSampleSummary } from "@/server/contracts/studio";

type Origin = AnswerSampleSummary["origin"];

/** Where a sample's answers are from, in a word; modelled and emulated ones are nobody's. */
export const originWords: Readonly<Record<Origin, { readonly word: string; readonly tone: Tone }>> = {
  uploaded: { word: "uploaded", tone: "neutral" },
  batch: { word: "of a batch", tone: "neutral" },
  modelled: { word: "modelled", tone: "hatched" },
  emulated: { word: "emulated", tone: "hatched" },
};

/** Samples to choose among, each with what tells it from the others. */
export const sampleOptions = (samples: readonly AnswerSampleSummary[]): readonly Option[] =>
  samples.map(({ id, name, questions, models, origin, createdAt }) => {
    const { word } = originWords[origin];
    const told = name.endsWith(word) ? name : `${name}, ${word}`;
    return {
      value: id,
      text: `${told}: ${formatCounted(questions, "question")}, ${formatCounted(models.length, "model")}, ${formatDate(createdAt)}`,
    };
  });

/** Models of one sample at most, as the studio takes them. */
export const MOST_MODELS = 17;

/** Of a table of more models than a sample holds, how many are ticked to begin with: three experts and one to stand in for an aggregator. */
const TICKED = 4;

/** Models of a table that are ticked to begin with: all, or where they are too many those most often right. */
export const tickedModels = (models: readonly { readonly model: string; readonly accuracy: number }[]): readonly string[] =>
  (models.length <= MOST_MODELS ? models : models.toSorted((a, b) => b.accuracy - a.accuracy).slice(0, TICKED)).map(({ model }) => model);

/** Why a sample cannot be kept of what is chosen; null: it can. */
export function sampleHindrance(draft: { readonly name: string; readonly models: readonly string[] }): string | null {
  if (draft.models.length < 2) return "Choose two models or more: fewer cannot disagree.";
  if (draft.models.length > MOST_MODELS) return `Choose ${MOST_MODELS} models at most.`;
  if (draft.name.trim() === "") return "Give it a name.";
  return null;
}

/** A name for a sample of a file, as the file is called. */
export const nameOfFile = (file: string): string => file.replace(/(\.(csv|jsonl|gz|txt))+$/i, "").slice(0, 80);
