import type { Tone } from "@/components/ui/Badge";
import type { Option } from "@/components/ui/Field";
import { formatCounted, formatDate } from "@/components/ui/format";
import type { AnswerSampleSummary } from "@/server/contracts/studio";

type Origin = AnswerSampleSummary["origin"];

/** The origin of a sample's answers, in a word; modelled and emulated ones are marked. */
export const originWords: Readonly<Record<Origin, { readonly word: string; readonly tone: Tone }>> = {
  uploaded: { word: "uploaded", tone: "neutral" },
  batch: { word: "of a batch", tone: "neutral" },
  modelled: { word: "modelled", tone: "hatched" },
  emulated: { word: "emulated", tone: "hatched" },
};

/** Options for a choice of samples, each with what distinguishes it from the others. */
export const sampleOptions = (samples: readonly AnswerSampleSummary[]): readonly Option[] =>
  samples.map(({ id, name, questions, models, origin, createdAt }) => {
    const { word } = originWords[origin];
    const told = name.endsWith(word) ? name : `${name}, ${word}`;
    return {
      value: id,
      text: `${told}: ${formatCounted(questions, "question")}, ${formatCounted(models.length, "model")}, ${formatDate(createdAt)}`,
    };
  });

/** The studio's limit on models of one sample. */
export const MOST_MODELS = 17;

/** How many models are selected by default if a table has more than a sample holds: three experts and one in place of an aggregator. */
const TICKED = 4;

/** Models of a table that are selected by default: all, or if there are too many, those most often right. */
export const tickedModels = (models: readonly { readonly model: string; readonly accuracy: number }[]): readonly string[] =>
  (models.length <= MOST_MODELS ? models : models.toSorted((a, b) => b.accuracy - a.accuracy).slice(0, TICKED)).map(({ model }) => model);

/** Why the selection cannot be stored as a sample; null: it can. */
export function sampleHindrance(draft: { readonly name: string; readonly models: readonly string[] }): string | null {
  if (draft.models.length < 2) return "Choose two models or more: fewer cannot disagree.";
  if (draft.models.length > MOST_MODELS) return `Choose ${MOST_MODELS} models at most.`;
  if (draft.name.trim() === "") return "Give it a name.";
  return null;
}

/** A sample's default name, from the file's name. */
export const nameOfFile = (file: string): string => file.replace(/(\.(csv|jsonl|gz|txt))+$/i, "").slice(0, 80);
