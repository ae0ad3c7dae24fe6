import { isRecord } from "@/solver/collections/isRecord";
import { type WorkflowDocument, workflowDocumentSchema } from "@/solver/plan/workflowDocument";
import { readDspyProgram } from "./dspyProgram";
import { calledNote, type GraphReading, ImportedGraph, wordOf } from "./importedGraph";
import { readLangGraph } from "./langGraph";

export type WorkflowReading =
  | {
      readonly ok: true;
      readonly document: WorkflowDocument;
      readonly origin: "weir" | "dspy" | "langgraph";
      /** Assumptions and omissions, a sentence each. */
      readonly notes: readonly string[];
    }
  /** Why it is no workflow, in one sentence that names the field or the agent. */
  | { readonly ok: false; readonly message: string };

/** Maximum length of a text, in characters. */
const MOST_CHARACTERS = 500_000;

/** Name of a graph that has no name, or no name that can be made a word. */
const unnamed = "imported";

/**
 * Reads a JSON text as a workflow: a document in Weir's format, the output of LangGraph's `graph.get_graph().to_json()`, or the state that
 * a DSPy program saves. Graphs are converted to documents, with notes on what they do not contain.
 */
export function readWorkflowText(text: string): WorkflowReading {
  if (text.length > MOST_CHARACTERS) return refused(`The text has more than ${MOST_CHARACTERS.toLocaleString("en")} characters.`);
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch (error) {
    return refused(`This is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
  if (!isRecord(json)) return refused("A JSON object was expected: a workflow, or a graph of LangGraph or DSPy.");
  if (json.agents !== undefined || json.kind === "Workflow") return checked(json, "weir", []);
  if (json.nodes !== undefined || json.edges !== undefined) return documentOf(readLangGraph(json), json, "langgraph");
  const program = readDspyProgram(json);
  if (program !== null) return documentOf(program, json, "dspy");
  return refused("Neither agents (Weir), nor nodes and edges (LangGraph), nor predictors with signatures (DSPy) are in it.");
}

const refused = (message: string): WorkflowReading => ({ ok: false, message });

function documentOf(graph: GraphReading, { name }: Readonly<Record<string, unknown>>, origin: "dspy" | "langgraph"): WorkflowReading {
  if (!(graph instanceof ImportedGraph)) return graph;
  const ordered = graph.ordered();
  if (!("agents" in ordered)) return ordered;
  const own = typeof name === "string" ? name : "";
  const word = wordOf(own, unnamed);
  const notes = [
    ...(own === "" ? [`The graph has no name: it is called ${unnamed} until you name it.`] : calledNote(own, word)),
    ...new Set(graph.notes),
    "What an agent's answer does for the program is not said: each is taken to solve its part, until you say what it does.",
  ];
  return checked({ name: word, agents: ordered.agents }, origin, notes);
}

function checked(json: unknown, origin: "weir" | "dspy" | "langgraph", notes: readonly string[]): WorkflowReading {
  const read = workflowDocumentSchema.safeParse(json);
  if (read.success) return { ok: true, document: read.data, origin, notes };
  const [issue] = read.error.issues;
  const field = (issue?.path ?? []).reduce<string>(
    (path, part) => (typeof part === "number" ? `${path}[${part}]` : path === "" ? String(part) : `${path}.${String(part)}`),
    "",
  );
  return refused(field === "" ? `${issue?.message}.` : `${field}: ${issue?.message}.`);
}
