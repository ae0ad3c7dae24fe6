import { MOST_AGENTS } from "@/solver/plan/workflowDocument";

/** The result of reading a graph: agents in any order, or one sentence with the reason why there are none. */
export type GraphReading = ImportedGraph | Refusal;

interface Refusal {
  readonly ok: false;
  readonly message: string;
}

/** One agent in another tool's graph. */
export interface ImportedAgent {
  /** Its name in the graph, converted to a word. */
  readonly name: string;
  readonly instructions?: string;
  readonly maxTokens?: number;
}

export const refusal = (message: string): Refusal => ({ ok: false, message });

/** Agents of a graph that another tool wrote, and the agents that each reads. */
export class ImportedGraph {
  readonly notes: string[] = [];
  private readonly agents: ImportedAgent[] = [];
  private readonly readBy = new Map<number, Set<number>>();

  /** Adds an agent; returns its index. */
  add(agent: ImportedAgent): number {
    const word = wordOf(agent.name, `agent-${this.agents.length + 1}`);
    this.notes.push(...calledNote(agent.name, word));
    this.agents.push({ ...agent, name: word });
    return this.agents.length - 1;
  }

  /** Adds an edge: an agent reads another's answer. */
  reads(reader: number, read: number): void {
    const known = this.readBy.get(reader) ?? new Set();
    known.add(read);
    this.readBy.set(reader, known);
  }

  /** Agents each after those they read, otherwise in the order in which they were added; or why there is no such order. */
  ordered(): { readonly agents: readonly (ImportedAgent & { readonly reads: readonly string[] })[] } | Refusal {
    if (this.agents.length === 0) return refusal("The graph has no agents.");
    if (this.agents.length > MOST_AGENTS) return refusal(`The graph has ${this.agents.length} agents, more than ${MOST_AGENTS}.`);
    const names = this.agents.map(({ name }) => name);
    const twice = names.find((name, at) => names.indexOf(name) < at);
    if (twice !== undefined) return refusal(`Two agents would be called ${twice}: give them different names.`);
    const order: number[] = [];
    while (order.length < names.length) {
      const next = names.findIndex((_, at) => !order.includes(at) && this.readOf(at).every((read) => order.includes(read)));
      if (next < 0) return refusal(`${this.circle(order)}: a declared workflow has no loops.`);
      order.push(next);
    }
    return {
      agents: order.flatMap((at) => {
        const agent = this.agents[at];
        const reads = order.filter((read) => this.readOf(at).includes(read)).map((read) => names[read] ?? "");
        return agent === undefined ? [] : [{ ...agent, reads }];
      }),
    };
  }

  private readOf(agent: number): readonly number[] {
    return [...(this.readBy.get(agent) ?? [])];
  }

  /** One of the loops among agents that have no place in the order yet. */
  private circle(order: readonly number[]): string {
    const open = (agent: number): number | undefined => this.readOf(agent).find((read) => !order.includes(read));
    const way: number[] = [];
    for (let at: number | undefined = this.agents.findIndex((_, agent) => !order.includes(agent)); at !== undefined; at = open(at)) {
      if (way.includes(at)) {
        const names = way.slice(way.indexOf(at)).map((agent) => this.agents[agent]?.name ?? "");
        return names.length === 1 ? `${names[0]} reads its own answer` : `The graph goes in a circle through ${names.reverse().join(", ")}`;
      }
      way.push(at);
    }
    return "The graph goes in a circle";
  }
}

/** One word that headers can carry; `otherwise` where nothing is left of a name. */
export function wordOf(name: string, otherwise: string): string {
  const word = name
    .replace(/[^A-Za-z0-9._-]+/g, "-")
    .replace(/^[._-]+/, "")
    .slice(0, 63)
    .replace(/[._-]+$/, "");
  return word === "" ? otherwise : word;
}

/** A note that something has another name here; nothing where it keeps its name. */
export const calledNote = (name: string, word: string): readonly string[] =>
  word === name ? [] : [`"${shortened(name)}" is called ${word} here.`];

const shortened = (text: string): string => (text.length > 80 ? `${text.slice(0, 79)}…` : text);
