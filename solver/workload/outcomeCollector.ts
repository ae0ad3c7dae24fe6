import { resolveModel } from "@/solver/hardware/aliases";
import { type CollectedTable, collectedTable, type ModelNames, type Prompt, unknownModelProblem } from "./collectedTable";
import { importedColumns } from "./gateColumns";
import { metricScale, type OutcomeRow, type Read, shown } from "./outcomeRow";

/** Maximum number of names in a message. */
const LISTED_NAMES = 20;

export interface OutcomeSelection extends ModelNames {
  /** null: the table has one family only. */
  readonly family: string | null;
  /** Empty: every task of the family. */
  readonly tasks: readonly string[];
}

export interface CollectedOutcomes extends CollectedTable {
  readonly family: string;
  readonly tasks: readonly string[];
}

/**
 * Collects the rows of one family and set of tasks into an outcome table, holding only the columns the table needs. `add`
 * returns null or the problem with the row; `finish` the table or the problem with the whole.
 */
export function createOutcomeCollector(selection: OutcomeSelection) {
  const tasksByFamily = new Map<string, Set<string>>();
  const places = new Map<string, number>();
  const promptIds = new Set<string>();
  const prompts: Prompt[] = [];
  const models = new Map<string, ReturnType<typeof emptyAnswers>>();
  const largestLabelOf = new Map<string, number>();
  const largestGateScoreOf = new Map<string, number>();
  let family = selection.family;

  function add(row: OutcomeRow): string | null {
    family ??= row.family;
    const tasks = tasksByFamily.get(row.family) ?? new Set();
    tasksByFamily.set(row.family, tasks.add(row.task));
    const isSelected = row.family === family && (selection.tasks.length === 0 || selection.tasks.includes(row.task));
    if (!isSelected) return null;
    largestLabelOf.set(row.metric, Math.max(row.label, largestLabelOf.get(row.metric) ?? 0));
    for (const name of importedColumns) largestGateScoreOf.set(name, Math.max(row[name] ?? 0, largestGateScoreOf.get(name) ?? 0));
    // Reported at once, so that the message can name the line.
    if (resolveModel(row.model, selection.aliases, selection.models) === undefined) return unknownModelProblem(row.model, selection);
    const answers = models.get(row.model) ?? emptyAnswers(row.sizeRank);
    models.set(row.model, answers);
    if (answers.sizeRank !== row.sizeRank) {
      return `size_rank of ${shown(row.model)} is ${row.sizeRank} here and ${answers.sizeRank} before; give the model one rank`;
    }
    return addAnswer(answers, row, placeOf(row));
  }

  /** Index of the row's prompt. The same id in two tasks means two prompts; the second gets its task as prefix. */
  function placeOf(row: OutcomeRow): number {
    const key = `${row.task}\n${row.promptId}`;
    const place = places.get(key) ?? prompts.length;
    const prompt = prompts[place];
    if (prompt !== undefined) {
      prompt.inputTokens = Math.max(prompt.inputTokens, row.inputTokens ?? 0);
      return place;
    }
    const id = promptIds.has(row.promptId) ? `${row.task}:${row.promptId}` : row.promptId;
    promptIds.add(id);
    places.set(key, place);
    prompts.push({ id, category: row.category, inputTokens: row.inputTokens ?? 0 });
    return place;
  }

  function finish(): Read<CollectedOutcomes> {
    const problem = selectionProblem(selection, tasksByFamily) ?? scaleProblem(largestLabelOf) ?? gateScaleProblem(largestGateScoreOf);
    if (problem !== null) return { ok: false, problem };
    const table = collectedTable(prompts, models, selection);
    if (!table.ok) return table;
    const tasks = selection.tasks.length > 0 ? selection.tasks : [...(tasksByFamily.get(family ?? "") ?? [])];
    return { ok: true, value: { ...table.value, family: family ?? "", tasks } };
  }

  return { add, finish };
}

const emptyAnswers = (sizeRank: number) => ({
  ...{ sizeRank, outputTokens: [] as number[], label: [] as number[], judged: [] as number[] },
  ...{ confidence: [] as number[], agreement: [] as number[] },
});

function addAnswer(answers: ReturnType<typeof emptyAnswers>, row: OutcomeRow, place: number): string | null {
  while (answers.label.length <= place) {
    answers.outputTokens.push(0);
    answers.label.push(Number.NaN);
    for (const scores of [answers.judged, answers.confidence, answers.agreement]) scores.push(Number.NaN);
  }
  if (!Number.isNaN(answers.label[place])) {
    return `prompt_id ${shown(row.promptId)} was answered by ${shown(row.model)} before; keep one row per prompt and model`;
  }
  answers.outputTokens[place] = row.outputTokens;
  answers.label[place] = row.label;
  answers.judged[place] = row.judged ?? Number.NaN;
  for (const name of importedColumns) answers[name][place] = row[name] ?? Number.NaN;
  return null;
}

function selectionProblem({ family, tasks }: OutcomeSelection, tasksByFamily: ReadonlyMap<string, ReadonlySet<string>>): string | null {
  const families = [...tasksByFamily.keys()];
  if (family === null && families.length > 1) return `family: there are several, choose one of ${listed(families)}`;
  const present = tasksByFamily.get(family ?? families[0] ?? "");
  if (present === undefined) return `family ${shown(family ?? "")} does not occur; choose one of ${listed(families)}`;
  const absent = tasks.find((task) => !present.has(task));
  if (absent === undefined) return null;
  return `task ${shown(absent)} does not occur in family ${shown(family ?? families[0] ?? "")}; choose from ${listed([...present])}`;
}

/** A metric of unknown name is read as 0..100. One that never exceeds 1 was probably meant as a fraction. */
function scaleProblem(largestLabelOf: ReadonlyMap<string, number>): string | null {
  for (const [metric, largest] of largestLabelOf) {
    if (metricScale(metric).high === 100 && largest > 0 && largest <= 1) {
      return `score of metric ${shown(metric)} never exceeds 1 although it is read as 0..100; name the metric 'correct' if it is a fraction`;
    }
  }
  return null;
}

/** Probabilities and shares are often written from 0 to 1. */
function gateScaleProblem(largestOf: ReadonlyMap<string, number>): string | null {
  for (const [name, largest] of largestOf)
    if (largest > 0 && largest <= 1) return `${name} never exceeds 1 although it is read as 0..100; multiply it by 100`;
  return null;
}

const listed = (names: readonly string[]): string =>
  `${names.slice(0, LISTED_NAMES).map(shown).join(", ")}${names.length > LISTED_NAMES ? ` and ${names.length - LISTED_NAMES} more` : ""}`;
