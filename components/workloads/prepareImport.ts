import type { ConfidenceMeasure } from "@/solver/gates/gateDocument";
import type { Extraction } from "@/solver/judging/extract";
import type { Inputs } from "../api/trpc";
import type { Option } from "../ui/Field";
import type { OutcomesSurvey, Uploaded } from "../ui/uploadFile";

/** Default AUC of a modelled judge: that of a good small judge on binary labels. */
const DEFAULT_AUC = 0.8;

export const AUC_CHOICES: readonly Option[] = [
  { value: "0.5", text: "0.50, a coin" },
  { value: "0.7", text: "0.70, a weak judge" },
  { value: "0.8", text: "0.80, the default" },
  { value: "0.9", text: "0.90, a strong judge" },
  { value: "1", text: "1.00, an oracle" },
];

/** An operator's choices in the wizard. */
export interface ImportChoice {
  readonly name: string;
  readonly family: string;
  readonly tasks: readonly string[];
  readonly auc: number;
  /** Table name -> model card, for names the studio does not know. */
  readonly aliases: Readonly<Record<string, string>>;
  readonly arrivalsUploadId: string | null;
  readonly gates: GateColumnsChoice;
}

/** What the gate columns of a table hold, as the operator says. */
export interface GateColumnsChoice {
  readonly measure: ConfidenceMeasure;
  readonly comparison: Comparison;
  readonly samples: number;
  readonly temperature: number;
  /** The part of answers that is compared, and that the measure of the answer's span reads. */
  readonly part: Extraction;
}

/** What agreement compares an answer with: nothing that is known, samples of its model, or answers of a model by its name in the table. */
export type Comparison = "unknown" | "samples" | `peer ${string}`;

type ImportRequest = Inputs["workloads"]["import"];
type Family = OutcomesSurvey["families"][number];

/** The default choice for a family: all its tasks, named after both. */
export function startingChoice(family: Family): ImportChoice {
  const tasks = family.tasks.map((task) => task.task);
  const gates: GateColumnsChoice = { measure: "minimum", comparison: "unknown", samples: 4, temperature: 0.7, part: "whole" };
  return { name: family.family, family: family.family, tasks, auc: DEFAULT_AUC, aliases: {}, arrivalsUploadId: null, gates };
}

/** What agreement can be said to compare with. */
export const comparisonsOf = ({ models }: Family): readonly Option<Comparison>[] => [
  { value: "unknown", text: "not known: no plan uses it" },
  { value: "samples", text: "samples of the same model" },
  ...models.map(({ tableName }) => ({ value: `peer ${tableName}` as const, text: `answers of ${tableName}` })),
];

/** The statements of an import about the gate columns that the table has; none for those that it lacks, or whose meaning is the default. */
function statedColumns({ gateColumns }: Family, gates: GateColumnsChoice): Pick<ImportRequest, "confidence" | "agreement"> {
  const { measure, comparison, samples: count, temperature, part: answer } = gates;
  const reading = gateColumns.includes("confidence") && measure !== "minimum";
  const compared = gateColumns.includes("agreement") && comparison !== "unknown";
  const others = comparison === "samples" ? { samples: { count, temperature } } : { peers: [comparison.slice("peer ".length)] };
  return {
    ...(reading && { confidence: { measure, ...(measure === "answer-span" && { answer }) } }),
    ...(compared && { agreement: { answer, ...others } }),
  };
}

/** Table names without a known card and without a manual choice. */
export function unnamedModels(family: Family, aliases: ImportChoice["aliases"]): readonly string[] {
  return family.models.filter((each) => each.model === null && (aliases[each.tableName] ?? "").trim() === "").map((each) => each.tableName);
}

/** The request of an import. For a table with judged scores no judge is modelled. */
export function importRequest(uploaded: Uploaded<OutcomesSurvey>, choice: ImportChoice): ImportRequest {
  const family = uploaded.survey.families.find((each) => each.family === choice.family);
  return {
    outcomesUploadId: uploaded.uploadId,
    arrivalsUploadId: choice.arrivalsUploadId,
    family: choice.family,
    tasks: [...choice.tasks],
    judgeAuc: family?.judged ? null : choice.auc,
    name: choice.name,
    aliases: { ...choice.aliases },
    ...(family === undefined ? {} : statedColumns(family, choice.gates)),
  };
}
