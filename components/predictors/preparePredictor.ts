import type { Artefact, ArtefactKind } from "@/server/contracts/studio";
import { mean } from "@/solver/numeric/quantile";
import { badRunWords, configurationWords } from "@/solver/prediction/leftOutRuns";
import { ABSENT, formatCount, formatCounted, shortHash } from "../ui/format";

const kindWords: Readonly<Record<ArtefactKind, string>> = {
  lengths: "Lengths",
  confidence: "Confidence",
  configurations: "Configurations",
};

/** One model's figures: a predictor's error on held-out data, next to that of a baseline without learning. */
interface PredictorRow {
  readonly model: string;
  readonly figures: readonly string[];
}

export interface PredictorPicture {
  readonly title: string;
  /** Its training data, in a sentence without its end. */
  readonly trainedOn: string;
  /** Names of the columns after the model's name. */
  readonly columns: readonly string[];
  readonly rows: readonly PredictorRow[];
  /** How to read them, and the baseline next to them. */
  readonly legend: string;
  /** What to know before trusting it. */
  readonly warnings: readonly string[];
}

/** One row per model, and where there are several their unweighted mean. */
function rowsOf(models: readonly { readonly model: string; readonly values: readonly number[] }[]): readonly PredictorRow[] {
  const macro = models[0]?.values.map((_, at) => mean(models.map(({ values }) => values[at] ?? Number.NaN))) ?? [];
  return [...models, ...(models.length > 1 ? [{ model: "mean of models (macro)", values: macro }] : [])].map(({ model, values }) => ({
    model,
    figures: values.map((value) => (Number.isFinite(value) ? value.toFixed(2) : ABSENT)),
  }));
}

/** The features used where the prompts' texts were not available. */
const blindTo: Readonly<Record<ArtefactKind, string>> = {
  lengths: "No texts were available: it uses only token counts, workflow and stage.",
  confidence: "No texts were available: it uses only token counts, which say little about which model is right.",
  configurations: "No texts were available: it uses only token counts, which say little about which configurations are accurate.",
};

const ofSource: { readonly [source in Artefact["training"]["source"]]?: string } = {
  traffic: "traffic of ",
  "executed runs": "executed runs in ",
};

/** The display of a trained predictor. */
export function preparePredictor({
  kind,
  version,
  training,
  heldOut,
}: Pick<Artefact, "kind" | "version" | "training" | "heldOut">): PredictorPicture {
  const { source, workloadName, texts, encoder, emulated } = training;
  const title = `${kindWords[kind]} v${version} of ${training.workflow === undefined ? "" : `${training.workflow.name}, `}${ofSource[source] ?? ""}${workloadName}`;
  const warnings = [
    ...(emulated ? ["Its training data was emulated or generated: its figures do not apply to real models."] : []),
    ...(texts || encoder !== null ? [] : [blindTo[kind]]),
    ...leftOutOf(training),
    ...leftOutRunsOf(training),
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
      legend: `Kendall tau distance to the order of actual lengths: the share of pairs in the wrong order. 0 is perfect; 0.50 is a coin, and first come, first served. The last column orders programs by input length, without learning. ${held}`,
      warnings,
    };
  const byEncoder =
    encoder === null ? [] : ["It needs a gateway with exactly this encoder (WEIR_ENCODER_FOLDERS); a gateway without it refuses the plan."];
  if (kind === "configurations")
    return {
      title,
      trainedOn: configurationsTrainedOn(training),
      columns: ["precision", "recall", "heads evaluated", "loss, mean", "loss, cheapest"],
      rows: configurationRows(training, heldOut),
      legend: `Precision: of the configurations that it accepts, the share as accurate as the largest models throughout; recall: of those that are, the share that it accepts. Heads evaluated: the share that the search evaluates for a prompt. Loss: points of quality out of 100 below the largest models, on average over accepted configurations, and for the cheapest accepted one; a gain is below 0. ${held}`,
      warnings: [
        ...(source === "executed runs"
          ? []
          : ["Outcomes are modelled from labels of single answers: this workflow's programs were not graded under every configuration."]),
        ...warnings,
        ...(heldOut.configurations?.recall === 0
          ? ["It accepts only the largest models: its inputs do not tell which configurations are accurate."]
          : []),
        ...byEncoder,
      ],
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
    legend: `AUC: of pairs of a prompt that the model answers right and one that it does not, the share in which the first gets the higher confidence; 0.50 is a coin. Compare average precision with the share right, which a coin reaches; its mean over models is the mAP. ${held}`,
    warnings: [...warnings, ...byEncoder],
  };
}

function leftOutOf({ leftOut }: Artefact["training"]): readonly string[] {
  const { cutAnswers = 0, longSessions = 0 } = leftOut ?? {};
  return [
    ...(cutAnswers === 0
      ? []
      : [
          `${formatCounted(cutAnswers, "answer")} cut at the client's limit left out: their full length is unknown, and if there are many, predictions are too short.`,
        ]),
    ...(longSessions === 0
      ? []
      : [
          `${formatCounted(longSessions, "session")} of more than 1,000 requests left out: a client that never changes it does not run a single program.`,
        ]),
  ];
}

function leftOutRunsOf({ leftOutRuns }: Artefact["training"]): readonly string[] {
  if (leftOutRuns === undefined) return [];
  const { lines, inputs, first } = leftOutRuns;
  return [
    ...(first === null
      ? []
      : [
          `${formatCounted(inputs, "input")} left out, of which not every configuration was executed: that of line ${formatCount(first.line)} lacks ${configurationWords(first.lacks)}.`,
        ]),
    ...lines.map(
      ({ problem, lines: count, firstLine }) =>
        `${formatCounted(count, "line")} left out that ${count === 1 ? "has" : "have"} ${badRunWords[problem]}: line ${formatCount(firstLine)}${count === 1 ? "" : " first"}.`,
    ),
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

function configurationsTrainedOn(training: Artefact["training"]): string {
  const { source, prompts, requests, models, correlation, misleads } = training;
  if (source === "executed runs")
    return `executed runs of ${formatCounted(prompts, "input")} (${formatCounted(requests, "request")}) over ${models.join(", ")}, read by ${readBy(training)}`;
  return `modelled outcomes of ${formatCounted(prompts, "prompt")} over ${models.join(", ")} (stages alike by ${correlation ?? ABSENT}, a wrong answer misleads by ${misleads ?? ABSENT}), read by ${readBy(training)}`;
}

/** One row: heads belong to configurations, not to models. */
function configurationRows({ models }: Artefact["training"], { configurations }: Artefact["heldOut"]): readonly PredictorRow[] {
  if (configurations === undefined) return [];
  const { precision, recall, evaluatedShare, meanLoss, cheapestLoss } = configurations;
  const share = (value: number): string => (Number.isFinite(value) ? `${(100 * value).toFixed(1)} %` : ABSENT);
  return [
    {
      model: models.join(", "),
      figures: [share(precision), share(recall), share(evaluatedShare), meanLoss.toFixed(1), cheapestLoss.toFixed(1)],
    },
  ];
}
