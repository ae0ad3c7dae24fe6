import type { Artefact, ArtefactKind } from "@/server/contracts/studio";
import { mean } from "@/solver/numeric/quantile";
import { ABSENT, formatCounted, shortHash } from "../ui/format";

export const kindWords: Readonly<Record<ArtefactKind, string>> = { lengths: "Lengths", confidence: "Confidence" };

/** One model's figures: what a predictor did on what it had not seen, beside what needs no learning. */
export interface PredictorRow {
  readonly model: string;
  readonly figures: readonly string[];
}

export interface PredictorPicture {
  readonly title: string;
  /** What it was trained on, in a sentence without its end. */
  readonly trainedOn: string;
  /** What the columns beside the model's name say. */
  readonly columns: readonly string[];
  readonly rows: readonly PredictorRow[];
  /** How to read them, and what stands beside them for comparison. */
  readonly legend: string;
  /** What to know before trusting it. */
  readonly warnings: readonly string[];
}

/** A row a model, and where there are several their mean, each counted alike. */
function rowsOf(models: readonly { readonly model: string; readonly values: readonly number[] }[]): readonly PredictorRow[] {
  const macro = models[0]?.values.map((_, at) => mean(models.map(({ values }) => values[at] ?? Number.NaN))) ?? [];
  return [...models, ...(models.length > 1 ? [{ model: "mean of models (macro)", values: macro }] : [])].map(({ model, values }) => ({
    model,
    figures: values.map((value) => (Number.isFinite(value) ? value.toFixed(2) : ABSENT)),
  }));
}

/** What it goes by where prompts' texts were not at hand. */
const blindTo: Readonly<Record<ArtefactKind, string>> = {
  lengths: "No texts were at hand: it goes by token counts, workflow and stage alone.",
  confidence: "No texts were at hand: it goes by token counts alone, which tell little of who is right.",
};

/** What is told of a trained predictor. */
export function preparePredictor({
  kind,
  version,
  training,
  heldOut,
}: Pick<Artefact, "kind" | "version" | "training" | "heldOut">): PredictorPicture {
  const { source, workloadName, texts, encoder, emulated } = training;
  const title = `${kindWords[kind]} v${version} of ${source === "traffic" ? `traffic of ${workloadName}` : workloadName}`;
  const warnings = [
    ...(emulated ? ["What it learnt from was emulated or generated: its figures say nothing of real models."] : []),
    ...(texts || encoder !== null ? [] : [blindTo[kind]]),
    ...leftOutOf(training),
  ];
  const held = `Measured on ${formatCounted(heldOut.prompts, source === "traffic" ? "later program" : "prompt")} it has not seen.`;
  if (kind === "lengths")
    return {
      title,
      trainedOn: lengthsTrainedOn(training),
      columns: ["τ distance, requests", "τ distance, rest of programs", "rest by input length"],
      rows: rowsOf(
        (heldOut.lengths ?? []).map(({ model, requestTau, remainingTau, inputLengthTau }) => ({
          ...{ model, values: [requestTau, remainingTau, inputLengthTau] },
        })),
      ),
      legend: `Kendall tau distance to the order in which lengths turn out: the share of pairs that it puts the wrong way round. 0 is perfect; 0.50 is a coin, and first come, first served. The last column orders what programs have yet to write by the length of the input, without learning. ${held}`,
      warnings,
    };
  return {
    title,
    trainedOn: `${formatCounted(training.prompts, "labelled prompt")}, read by ${readBy(training)}`,
    columns: ["AUC", "average precision", "share right"],
    rows: rowsOf(
      (heldOut.confidence ?? []).map(({ model, auc, averagePrecision, rightShare }) => ({
        ...{ model, values: [auc, averagePrecision, rightShare] },
      })),
    ),
    legend: `AUC: of pairs of a prompt that the model answers right and one that it does not, the share in which the first gets the higher confidence; 0.50 is a coin. Average precision is to be held against the share right, which a coin has; its mean over models is the mAP. ${held}`,
    warnings: [
      ...warnings,
      ...(encoder === null
        ? []
        : ["It serves where the cluster's gateway has this very encoder (WEIR_ENCODER_FOLDERS); one that has not refuses the plan."]),
    ],
  };
}

function leftOutOf({ leftOut }: Artefact["training"]): readonly string[] {
  const { cutAnswers = 0, longSessions = 0 } = leftOut ?? {};
  return [
    ...(cutAnswers === 0
      ? []
      : [
          `${formatCounted(cutAnswers, "answer")} as long as the client allowed left out: how long they would have been is not known, and where there are many, predictions lean short.`,
        ]),
    ...(longSessions === 0
      ? []
      : [
          `${formatCounted(longSessions, "session")} of more than 1,000 requests left out: a client that never changes it runs no one program.`,
        ]),
  ];
}

function readBy({ texts, encoder }: Artefact["training"]): string {
  if (encoder !== null) return `the encoder ${encoder.name} ${shortHash(encoder.sha256)}`;
  return texts ? "their words" : "their token counts";
}

function lengthsTrainedOn({ source, prompts, requests, workflows, correlation }: Artefact["training"]): string {
  if (source === "traffic") return `${formatCounted(requests, "remembered request")} of ${formatCounted(prompts, "program")}`;
  const alike = correlation === null ? "" : `, stages alike by ${correlation}`;
  return `modelled programs of ${formatCounted(prompts, "prompt")} (${workflows.join(", ")}${alike})`;
}
