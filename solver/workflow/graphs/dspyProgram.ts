import { isRecord } from "@/solver/collections/isRecord";
import { type GraphReading, ImportedGraph, refusal } from "./importedGraph";

/** A predictor of a program: its inputs and outputs, by field names as far as its state contains them. */
interface Predictor {
  readonly name: string;
  readonly instructions: string;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Its model's name. */
  readonly model: string | null;
  readonly maxTokens: number | null;
}

/** Maximum number of predictors: more are certainly no workflow that can be declared. */
const MOST_PREDICTORS = 100;

/** Key of a program saved with its versions, which is no predictor. */
const METADATA = "metadata";

/**
 * Reads the state that a DSPy program saves: by name of each predictor, its `signature` with `instructions` and `fields` (in versions
 * before 2.5.30, `signature_instructions`), its demonstrations and its `lm`. The state does not contain how predictors call one another.
 * Where inputs have the names of others' outputs, data flow makes the edges; else each reads the one that is declared before it.
 *
 * @returns null where it contains no predictor.
 */
export function readDspyProgram(json: Readonly<Record<string, unknown>>): GraphReading | null {
  const states = isPredictor(json) ? [["program", json] as const] : Object.entries(json).filter(([name]) => name !== METADATA);
  const predictors = states.flatMap(([name, state]) => (isPredictor(state) ? [predictorOf(name, state)] : []));
  if (predictors.length === 0) return null;
  if (predictors.length > MOST_PREDICTORS) return refusal(`The program has more than ${MOST_PREDICTORS} predictors.`);
  const graph = new ImportedGraph();
  for (const { name, instructions, maxTokens } of predictors)
    graph.add({ name: withoutEnds(name, ".predict"), instructions, ...(maxTokens === null ? {} : { maxTokens }) });
  connect(graph, predictors);
  const others = states.filter(([, state]) => !isPredictor(state)).map(([name]) => name);
  if (others.length > 0) graph.notes.push(`Left out, as it is no predictor: ${others.slice(0, 8).join(", ")}.`);
  const models = [...new Set(predictors.flatMap(({ model }) => model ?? []))];
  if (models.length > 0) graph.notes.push(`Models that it names are left out, and any may run each agent: ${models.join(", ")}.`);
  return graph;
}

const isPredictor = (state: unknown): state is Readonly<Record<string, unknown>> =>
  isRecord(state) && (isRecord(state.signature) || typeof state.signature_instructions === "string");

function predictorOf(name: string, state: Readonly<Record<string, unknown>>): Predictor {
  const signature = isRecord(state.signature) ? state.signature : {};
  const instructions = signature.instructions ?? state.signature_instructions;
  const fields = signature.fields ?? state.fields;
  const lm = isRecord(state.lm) ? state.lm : {};
  const text = typeof instructions === "string" ? instructions : "";
  return {
    name,
    instructions: text,
    ...flowOf(text, Array.isArray(fields) ? fields.filter(isRecord) : []),
    model: typeof lm.model === "string" ? lm.model : null,
    maxTokens: typeof lm.max_tokens === "number" && Number.isSafeInteger(lm.max_tokens) && lm.max_tokens > 0 ? lm.max_tokens : null,
  };
}

/**
 * Fields by input and output. Only verbose states mark them (`field_type`). Elsewhere fields are in order, inputs first: outputs are those
 * named in the instructions that DSPy itself writes, else the fields from the reasoning that chains of thought put before them, else the
 * last field.
 */
function flowOf(instructions: string, fields: readonly Readonly<Record<string, unknown>>[]): Pick<Predictor, "inputs" | "outputs"> {
  const names = fields.map(fieldName);
  const typed = fields.every(({ field_type: type }) => type === "input" || type === "output");
  const said = new Set(saidOutputs(instructions).map(plain));
  const starts = [names.findIndex((name) => said.has(name)), names.indexOf("reasoning"), names.length - 1].filter((at) => at >= 0);
  const firstOutput = Math.min(...starts);
  const isOutput = (at: number): boolean => (typed ? fields[at]?.field_type === "output" : at >= firstOutput);
  return { inputs: names.filter((_, at) => !isOutput(at)), outputs: names.filter((_, at) => isOutput(at)) };
}

/** The outputs named in DSPy's own instructions, "Given the fields ..., produce the fields ..."; none in others. */
function saidOutputs(instructions: string): readonly string[] {
  const [given, produce] = ["Given the fields ", ", produce the fields "];
  const at = instructions.lastIndexOf(produce);
  if (at < given.length || !instructions.startsWith(given) || !instructions.endsWith(".")) return [];
  return instructions.slice(at + produce.length).match(/\w+/g) ?? [];
}

/** A text without `ending` at its end, however often repeated. */
function withoutEnds(text: string, ending: string): string {
  let length = text.length;
  while (text.endsWith(ending, length)) length -= ending.length;
  return text.slice(0, length);
}

/** A field's name without capitals and signs: from verbose states, from its description `${name}`, else from its prefix. */
function fieldName({ name, description, prefix }: Readonly<Record<string, unknown>>): string {
  if (typeof name === "string") return plain(name);
  const placed = typeof description === "string" ? description.match(/^\$\{(\w+)\}$/)?.[1] : undefined;
  return plain(placed ?? (typeof prefix === "string" ? prefix.replace(/:.*$/s, "") : ""));
}

const plain = (name: string): string => name.toLowerCase().replace(/[^\p{L}\p{N}]/gu, "");

/** Adds, for every input of each, an edge from the last predictor before it that gives that field, else from the first after it. */
function connect(graph: ImportedGraph, predictors: readonly Predictor[]): void {
  const given = predictors.map(({ outputs }) => new Set(outputs));
  let flows = 0;
  for (const [at, { inputs }] of predictors.entries()) {
    for (const input of new Set(inputs)) {
      const gives = given.flatMap((outputs, other) => (other !== at && outputs.has(input) ? [other] : []));
      const giver = gives.findLast((other) => other < at) ?? gives[0];
      if (giver === undefined) continue;
      graph.reads(at, giver);
      flows += 1;
    }
  }
  if (predictors.length < 2) return;
  if (flows > 0) {
    graph.notes.push("Who reads whom follows from fields: an input that is named as another's output is its answer.");
    return;
  }
  graph.notes.push("No input is named as another's output: each agent is taken to read the one declared before it.");
  for (let at = 1; at < predictors.length; at += 1) graph.reads(at, at - 1);
}
