import { formatCounted, formatSeconds } from "@/components/ui/format";
import type { AnswerSampleSummary, KeptEnsemble } from "@/server/contracts/studio";
import { type Confidence, type Ensemble, type Extraction, ensembleSchema } from "@/solver/ensemble/gate/ensembleDocument";
import { formatTau, isAggregateAll } from "@/solver/ensemble/gate/tauText";
import { extractionProblem } from "@/solver/ensemble/gate/voteReader";
import type { ConfidenceKind } from "../address/ensemblesCodec";

/** An ensemble's current state in the editor, valid or not. */
export interface EnsembleForm {
  readonly name: string;
  readonly experts: readonly string[];
  readonly expertsPerQuestion: number;
  readonly extraction: Extraction["kind"];
  readonly pattern: string;
  readonly confidence: ConfidenceKind;
  /** Points of 0..100 by expert. */
  readonly accuracy: Readonly<Record<string, number>>;
  readonly meanTokens: Readonly<Record<string, number>>;
  readonly tau: number;
  readonly aggregator: string;
  /** 0: as many as the engine allows. */
  readonly aggregatorMaxTokens: number;
  /** Empty: the built-in prompt. */
  readonly instruction: string;
  readonly quorum: number;
  readonly deadlineSeconds: number;
  /** 0: as many as the engine allows. */
  readonly maxTokens: number;
  /** JSON of accuracy by category and expert; empty: nothing is known. */
  readonly skills: string;
}

type EnsembleField = "name" | "experts" | "expertsPerQuestion" | "extraction" | "confidence" | "tau" | "aggregator" | "quorum" | "skills";

export type Problems = Readonly<Partial<Record<EnsembleField | "deadlineSeconds" | "maxTokens", string>>>;

export const extractionOptions = [
  { value: "choice", text: "letter of a multiple choice" },
  { value: "number", text: "last number" },
  { value: "boxed", text: "what is in \\boxed{}" },
  { value: "text", text: "last line, normalised" },
  { value: "pattern", text: "a pattern of your own" },
] as const;

const extractionNouns: Readonly<Record<Extraction["kind"], string>> = {
  choice: "the letter of a multiple choice",
  number: "the last number",
  boxed: "what is in \\boxed{}",
  text: "the last line",
  pattern: "what a pattern finds",
};

export const confidenceOptions = [
  { value: "plurality", text: "share of experts that agree" },
  { value: "accuracy-weighted", text: "agreement weighed by accuracy" },
  { value: "length-aware", text: "agreement weighed by length" },
] as const;

/** The wording of a confidence, the same everywhere. */
export const confidenceName = (kind: ConfidenceKind): string => confidenceOptions.find(({ value }) => value === kind)?.text ?? kind;

/** Default figures of an expert. */
const [ACCURACY, MEAN_TOKENS] = [70, 500];

const DEADLINE_SECONDS = 60;

export const newEnsembleForm: EnsembleForm = {
  ...{ name: "", experts: [], expertsPerQuestion: 3, extraction: "choice", pattern: "", confidence: "plurality", accuracy: {} },
  ...{ meanTokens: {}, tau: 1, aggregator: "", aggregatorMaxTokens: 0, instruction: "", quorum: 2, deadlineSeconds: DEADLINE_SECONDS },
  ...{ maxTokens: 0, skills: "" },
};

/** A stored ensemble in the editor's form. */
export function formOf(ensemble: Ensemble): EnsembleForm {
  const { name, experts, expertsPerQuestion, extraction, confidence, tau, aggregator, quorum, deadlineSeconds, maxTokens, skills } =
    ensemble;
  return {
    ...{ name, experts, expertsPerQuestion, tau, quorum, deadlineSeconds, maxTokens: maxTokens ?? 0 },
    ...{ extraction: extraction.kind, pattern: extraction.kind === "pattern" ? extraction.pattern : "", confidence: confidence.kind },
    accuracy:
      confidence.kind === "accuracy-weighted"
        ? Object.fromEntries(Object.entries(confidence.accuracy).map(([expert, share]) => [expert, Number((share * 100).toFixed(4))]))
        : {},
    meanTokens: confidence.kind === "length-aware" ? confidence.meanTokens : {},
    ...{ aggregator: aggregator.model, aggregatorMaxTokens: aggregator.maxTokens ?? 0, instruction: aggregator.instruction ?? "" },
    skills: skills === undefined ? "" : JSON.stringify(skills, null, 2),
  };
}

export const extractionOf = ({ extraction, pattern }: Pick<EnsembleForm, "extraction" | "pattern">): Extraction =>
  extraction === "pattern" ? { kind: extraction, pattern } : { kind: extraction };

/** The effective figure of an expert: entered or the default. */
export const figureOf = (form: EnsembleForm, expert: string): number =>
  form.confidence === "length-aware" ? (form.meanTokens[expert] ?? MEAN_TOKENS) : (form.accuracy[expert] ?? ACCURACY);

function confidenceOf(form: EnsembleForm): Confidence {
  const figures = (unit: number) => Object.fromEntries(form.experts.map((expert) => [expert, figureOf(form, expert) / unit]));
  switch (form.confidence) {
    case "plurality":
      return { kind: "plurality" };
    case "accuracy-weighted":
      return { kind: "accuracy-weighted", accuracy: figures(100) };
    case "length-aware":
      return { kind: "length-aware", meanTokens: figures(1) };
  }
}

/** A warning that another ensemble of this name would be replaced; null: the name is free, or belongs to the edited ensemble. */
export function takenName(
  name: string,
  ensembles: readonly Pick<KeptEnsemble, "ensemble" | "version">[],
  changed: string | null,
): string | null {
  const taken = name === changed ? undefined : ensembles.find(({ ensemble }) => ensemble.name === name);
  if (taken === undefined) return null;
  return `An ensemble ${name} already exists, as version ${taken.version}. Choose another name, or close this dialog and change that ensemble.`;
}

/** A sample's figures for the experts that it has. */
export function figuresOfSample({ models }: Pick<AnswerSampleSummary, "models">): Pick<EnsembleForm, "accuracy" | "meanTokens"> {
  return {
    accuracy: Object.fromEntries(models.map(({ model, accuracy }) => [model, Number((accuracy * 100).toFixed(2))])),
    meanTokens: Object.fromEntries(models.map(({ model, meanTokens }) => [model, Math.max(1, Math.round(meanTokens))])),
  };
}

/** The problem of a field for which the document's schema has no message. */
const sentences: Readonly<Record<keyof Ensemble, string>> = {
  name: "Give it a name of lower-case letters, digits, dots, dashes or underscores, 63 at most.",
  experts: "Name two experts at least, and sixteen at most.",
  expertsPerQuestion: "Two experts at least answer a question.",
  skills: "Skills are accuracies from 0 to 1 by category and expert.",
  extraction: "Give a pattern of 500 characters at most.",
  confidence: "Give a figure of every expert.",
  tau: "Tau is above 0 and at most 1, or all is aggregated.",
  aggregator: "Name the model that combines the answers.",
  quorum: "One answer at least is needed.",
  deadlineSeconds: "The deadline is more than 0 s and at most a day.",
  maxTokens: "An answer has a million tokens at most.",
};

/** Subjects for the schema's messages, which begin with a verb. */
const subjects: Partial<Readonly<Record<string, string>>> = {
  experts: "The list of experts",
  expertsPerQuestion: "The number of experts a question",
  quorum: "The quorum",
  confidence: "The confidence",
};

function skillsOf(text: string): { readonly value: unknown } | null {
  if (text.trim() === "") return { value: undefined };
  try {
    return { value: JSON.parse(text) };
  } catch {
    return null;
  }
}

/** The ensemble that a form describes, or the problems of its fields, one sentence each. */
export function composeEnsemble(form: EnsembleForm): { readonly ensemble: Ensemble } | { readonly problems: Problems } {
  const skills = skillsOf(form.skills);
  if (skills === null) return { problems: { skills: "Skills are not valid JSON." } };
  const extraction = extractionOf(form);
  const read = ensembleSchema.safeParse({
    ...{ name: form.name.trim(), experts: form.experts, expertsPerQuestion: form.expertsPerQuestion, extraction },
    ...{ confidence: confidenceOf(form), tau: form.tau, quorum: form.quorum, deadlineSeconds: form.deadlineSeconds },
    ...(skills.value === undefined ? {} : { skills: skills.value }),
    aggregator: {
      model: form.aggregator.trim(),
      ...(form.aggregatorMaxTokens > 0 && { maxTokens: form.aggregatorMaxTokens }),
      ...(form.instruction.trim() !== "" && { instruction: form.instruction }),
    },
    ...(form.maxTokens > 0 && { maxTokens: form.maxTokens }),
  });
  const problems: { [field: string]: string; extraction?: string; expertsPerQuestion?: string } = {};
  for (const { code, path, message } of read.error?.issues ?? []) {
    const field = String(path[0]);
    const own = subjects[field];
    problems[field] ??= code === "custom" && own !== undefined ? `${own} ${message}.` : (sentences[field as keyof Ensemble] ?? message);
  }
  // While experts are missing, a quorum above their number is not reported.
  if (form.experts.length < 2) delete problems.expertsPerQuestion;
  const unreadable = form.extraction === "pattern" && form.pattern !== "" ? extractionProblem(extraction) : null;
  if (unreadable !== null) problems.extraction ??= unreadable;
  return read.success && unreadable === null ? { ensemble: read.data } : { problems };
}

/** An ensemble in a sentence. */
export function ensembleSays(ensemble: KeptEnsemble["ensemble"]): string {
  const { experts, expertsPerQuestion, extraction, tau, aggregator, quorum, deadlineSeconds } = ensemble;
  const asked = expertsPerQuestion < experts.length ? `${expertsPerQuestion} of ${experts.length} experts` : `${experts.length} experts`;
  const where = isAggregateAll(tau) ? "of every question" : `where confidence is below ${formatTau(tau, expertsPerQuestion)},`;
  return `${asked} answer a question (${experts.join(", ")}). Votes are ${extractionNouns[extraction.kind]}; ${where} ${aggregator.model} combines their answers. Online it decides with ${formatCounted(quorum, "answer")} or more, after ${formatSeconds(deadlineSeconds)} at the latest with the answers received.`;
}
