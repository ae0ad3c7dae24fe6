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
}

type Family = OutcomesSurvey["families"][number];

/** The default choice for a family: all its tasks, named after both. */
export function startingChoice(family: Family): ImportChoice {
  const tasks = family.tasks.map((task) => task.task);
  return { name: family.family, family: family.family, tasks, auc: DEFAULT_AUC, aliases: {}, arrivalsUploadId: null };
}

/** Table names without a known card and without a manual choice. */
export function unnamedModels(family: Family, aliases: ImportChoice["aliases"]): readonly string[] {
  return family.models.filter((each) => each.model === null && (aliases[each.tableName] ?? "").trim() === "").map((each) => each.tableName);
}

/** The request of an import. For a table with judged scores no judge is modelled. */
export function importRequest(uploaded: Uploaded<OutcomesSurvey>, choice: ImportChoice): Inputs["workloads"]["import"] {
  const family = uploaded.survey.families.find((each) => each.family === choice.family);
  return {
    outcomesUploadId: uploaded.uploadId,
    arrivalsUploadId: choice.arrivalsUploadId,
    family: choice.family,
    tasks: [...choice.tasks],
    judgeAuc: family?.judged ? null : choice.auc,
    name: choice.name,
    aliases: { ...choice.aliases },
  };
}
