import { createHash } from "node:crypto";
import type { Command } from "commander";
import { trainedConfidence } from "@/server/prediction/confidenceTraining";
import { MODELLED_START_WITHOUT_CONFIDENCE, type PlanningSituation } from "@/solver/cascade/explore/situation";
import { withConfidenceColumns } from "@/solver/workload/confidenceColumns";
import { splitPrompts } from "@/solver/workload/split";
import { refuse } from "./exitCodes";
import { readPromptTexts } from "./promptTexts";

export interface ConfidenceFlags {
  readonly promptTexts?: string;
}

/** Adds the flag for trained confidences. */
export const withConfidenceFlags = (command: Command): Command =>
  command.option(
    "--prompt-texts <file>",
    "CSV with prompt_id and prompt: slack dispatch, a trained direct start and the trained router among the baselines by a predictor that learns from them (without: slack dispatch by each model's mean quality)",
  );

/**
 * The situation with trained confidences: with the texts of its prompts, a predictor is trained on the planning prompts, and their
 * out-of-fold scores are attached. Takes some 10 s for a thousand prompts. Says on stderr where confidences come from.
 *
 * @throws Refusal with file and line if the texts cannot be read, or if none is of the workload.
 */
export async function readConfidence({ promptTexts: path }: ConfidenceFlags, situation: PlanningSituation): Promise<PlanningSituation> {
  if (path === undefined) {
    process.stderr.write("Confidence: stated.\n");
    return situation;
  }
  if (situation.directStart !== undefined) {
    process.stderr.write(`Confidence: stated. ${MODELLED_START_WITHOUT_CONFIDENCE}\n`);
    return situation;
  }
  const { workload } = situation;
  const { outcomes, seed } = workload;
  const { texts } = await readPromptTexts(path, outcomes.promptIds, "--prompt-texts");
  const split = splitPrompts(outcomes.promptIds.length, seed);
  const { bytes, scores, heldOut } = trainedConfidence({ workload, texts, split, tell: () => undefined });
  const models = scores.models.map(({ model }) => model);
  const scored = withConfidenceColumns(outcomes, models, scores.scores);
  if (scored === null) return refuse("--prompt-texts: the predictor does not cover the workload.");
  const aucs = models.map((model) => heldOut.outOfFold?.find((own) => own.model === model)?.auc.toFixed(2) ?? "-");
  process.stderr.write(`Confidence: trained on ${split.planning.length} prompts, out-of-fold AUC ${aucs.join(" / ")}.\n`);
  const artefact = createHash("sha256").update(bytes).digest("hex");
  const named = artefact.slice(0, 8);
  process.stderr.write(
    `A plan that reads its scores names this predictor, ${named}: a gateway needs it, so plan in the studio to apply it.\n`,
  );
  return { ...situation, workload: { ...workload, outcomes: scored }, confidence: { artefact } };
}
