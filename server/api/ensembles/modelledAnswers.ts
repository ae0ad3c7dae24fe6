import type { AnswerSampleSummary } from "@/server/contracts/studio/ensembles";
import type { AnswerSample } from "@/solver/ensemble/replay/answerSample";
import { modelledSample } from "@/solver/ensemble/replay/modelledSample";
import type { Workload } from "@/solver/workload/workload";

/** A sample before it has a name. */
export type TakenAnswers = Pick<AnswerSampleSummary, "origin" | "notes"> & { readonly sample: AnswerSample };

/** Seed of the wrong answers: the same workload gives the same sample. */
const seed = 1;

/** Answers modelled from a workload's labels. */
export const modelledAnswers = ({ name, outcomes }: Pick<Workload, "name" | "outcomes">): TakenAnswers => ({
  sample: modelledSample(outcomes, seed),
  origin: "modelled",
  notes: [`Of the labels of ${name}: where a model is wrong, its answer is drawn.`],
});
