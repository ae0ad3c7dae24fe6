import { isRecord } from "@/solver/collections/isRecord";
import { type GraphReading, ImportedGraph, refusal } from "./importedGraph";

interface Edge {
  readonly source: string;
  readonly target: string;
  readonly conditional: boolean;
}

/** The start and end nodes of graphs. */
const MARKS = ["__start__", "__end__"];

/** Maximum number of nodes and edges: more are certainly no workflow that can be declared. */
const MOST_PARTS = 1000;

/**
 * Reads the output of LangGraph's (and LangChain's) `get_graph().to_json()`: `nodes` with `id`, `type` and `data`, `edges` with `source`
 * and `target`, `conditional` where a function chooses among them. Start and end nodes, and schemas of inputs and outputs, are no agents. A
 * conditional edge is taken as one that is always followed.
 */
export function readLangGraph(json: Readonly<Record<string, unknown>>): GraphReading {
  const { nodes, edges } = json;
  if (!Array.isArray(nodes)) return refusal("nodes: a list was expected, as LangGraph writes it.");
  if (!Array.isArray(edges)) return refusal("edges: a list was expected, as LangGraph writes it.");
  if (nodes.length + edges.length > MOST_PARTS) return refusal(`The graph has more than ${MOST_PARTS} nodes and edges.`);
  const read = edges.map(edgeOf);
  const unreadable = read.indexOf(null);
  if (unreadable >= 0) return refusal(`edges[${unreadable}]: a source and a target were expected.`);
  const known = read.filter((edge) => edge !== null);

  const graph = new ImportedGraph();
  const agentOf = new Map<string, number | null>();
  for (const [at, node] of nodes.entries()) {
    const id = isRecord(node) ? idOf(node.id) : null;
    if (!isRecord(node) || id === null) return refusal(`nodes[${at}]: an id was expected.`);
    if (agentOf.has(id)) return refusal(`nodes[${at}]: ${id} is there twice.`);
    agentOf.set(id, isAgent(node, id, known) ? graph.add({ name: nameOf(node, id) }) : null);
  }
  for (const [at, { source, target, conditional }] of known.entries()) {
    const [from, to] = [agentOf.get(source), agentOf.get(target)];
    const stranger = from === undefined ? source : to === undefined ? target : null;
    if (stranger !== null) return refusal(`edges[${at}]: there is no node ${stranger}.`);
    if (from == null || to == null) continue;
    graph.reads(to, from);
    if (conditional) graph.notes.push(`The conditional edge from ${source} to ${target} is taken as one that is always followed.`);
  }
  return graph;
}

function edgeOf(edge: unknown): Edge | null {
  if (!isRecord(edge)) return null;
  const [source, target] = [idOf(edge.source), idOf(edge.target)];
  return source === null || target === null ? null : { source, target, conditional: edge.conditional === true };
}

/** Nodes without their own name are numbered. */
const idOf = (id: unknown): string | null => (typeof id === "string" && id !== "" ? id : typeof id === "number" ? String(id) : null);

function isAgent({ type }: Readonly<Record<string, unknown>>, id: string, edges: readonly Edge[]): boolean {
  if (MARKS.includes(id)) return false;
  const inner = edges.some(({ target }) => target === id) && edges.some(({ source }) => source === id);
  return type !== "schema" || inner;
}

/** A numbered node is named after what it runs. */
function nameOf({ id, data }: Readonly<Record<string, unknown>>, fallback: string): string {
  if (typeof id === "string") return id;
  const name = isRecord(data) ? data.name : data;
  return typeof name === "string" && name !== "" ? name : fallback;
}
