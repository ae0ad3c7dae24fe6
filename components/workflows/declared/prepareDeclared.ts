import { formatCount, formatCounted } from "@/components/ui/format";
import { formatTau } from "@/solver/ensemble/gate/tauText";
import type { WorkflowAgent, WorkflowDocument } from "@/solver/plan/workflowDocument";
import { spaceRefusal } from "@/solver/workflow/configurationSpace";
import { type AgentIdentity, identifyAgents } from "../graph/agentIdentity";
import type { LaidEdge } from "../graph/drawEdges";
import { layOutGraph } from "../graph/layOutGraph";

export interface DeclaredAgent {
  readonly key: string;
  readonly x: number;
  readonly y: number;
  readonly identity: AgentIdentity;
  /** Models it may run on, drawn as their marks; null: `note` says why there are none. */
  readonly models: readonly string[] | null;
  readonly note: string;
  /** A text alternative of the drawing, in a sentence. */
  readonly says: string;
}

/** A declared agent in the table. */
interface DeclaredRow {
  readonly key: string;
  readonly name: string;
  readonly reads: string;
  readonly part: string;
  readonly models: string;
  readonly writes: string;
  readonly instructions: string;
}

export interface DeclaredPicture {
  readonly width: number;
  readonly height: number;
  /** In reading order. */
  readonly agents: readonly DeclaredAgent[];
  readonly edges: readonly (LaidEdge & { readonly key: string; readonly from: string })[];
  readonly rows: readonly DeclaredRow[];
  readonly says: string;
  /** The consequence of agents without instructions; null: all have instructions. */
  readonly uninstructed: string | null;
}

const partWords: Readonly<Record<WorkflowAgent["part"], string>> = {
  helps: "helps the agents that read it",
  solves: "answers",
  checks: "checks its inputs",
  revises: "revises its inputs",
  votes: "takes the most frequent answer",
  joins: "combines its inputs",
};

const modelsText = ({ models, sameModelAs }: WorkflowAgent): string =>
  sameModelAs === undefined ? (models?.join(", ") ?? "any") : `same as ${sameModelAs}`;

/** Lays out the drawing of a declared workflow: agents by layers from left to right, each after those whose answers it reads. */
export function prepareDeclared({ name, agents }: WorkflowDocument): DeclaredPicture {
  const keyOf = (agent: string) => `${name}/${agent}`;
  const identities = identifyAgents(agents.map((agent) => keyOf(agent.name)));
  const edges = agents.flatMap(({ name: to, reads }) => reads.map((from) => ({ from: keyOf(from), to: keyOf(to) })));
  const layout = layOutGraph({ nodes: agents.map((agent, depth) => ({ key: keyOf(agent.name), depth })), edges });
  const byKey = new Map(agents.map((agent) => [keyOf(agent.name), agent]));
  return {
    width: layout.width,
    height: layout.height,
    agents: layout.nodes.flatMap(({ key, x, y }): DeclaredAgent | [] => {
      const [agent, identity] = [byKey.get(key), identities.get(key)];
      if (agent === undefined || identity === undefined) return [];
      const { models = null, sameModelAs } = agent;
      const note = sameModelAs === undefined ? "any model" : `model of ${sameModelAs}`;
      const reads = agent.reads.length === 0 ? "starts with the program" : `reads ${agent.reads.join(", ")}`;
      const may = sameModelAs === undefined ? (models === null ? "any model" : models.join(", ")) : `the model of ${sameModelAs}`;
      return { key, x, y, identity, models, note, says: `${agent.name}: ${reads}; ${may}` };
    }),
    edges: edges.flatMap((edge, at) => {
      const laid = layout.edges[at];
      return laid === undefined ? [] : { ...laid, key: `${edge.from}>${edge.to}`, from: edge.from };
    }),
    rows: agents.map((agent) => ({
      key: keyOf(agent.name),
      name: agent.name,
      reads: agent.reads.length === 0 ? "the input alone" : agent.reads.join(", "),
      part: `${partWords[agent.part]}${agent.skip === undefined ? "" : `; skipped where the answers it reads agree, at tau ${formatTau(agent.skip.tau, agent.reads.length)}`}`,
      models: modelsText(agent),
      writes: agent.maxTokens === undefined ? "unlimited" : `${formatCount(agent.maxTokens)} tokens`,
      instructions: agent.instructions === "" ? "none" : agent.instructions,
    })),
    says: `Agents of ${name}: ${formatCounted(agents.length, "agent")}, ${formatCounted(edges.length, "edge")} between them. The table has the same data.`,
    uninstructed: uninstructedSays(agents),
  };
}

/** An application sends its own prompts; the gateway's runs use only the instructions. */
function uninstructedSays(agents: readonly WorkflowAgent[]): string | null {
  const without = agents.filter(({ instructions }) => instructions === "").map(({ name }) => name);
  if (without.length === 0) return null;
  const which = without.length === agents.length ? "No agent has instructions" : `No instructions: ${without.join(", ")}`;
  return `${which}. When the gateway runs the workflow, such an agent gets only the input and the answers that it reads: add instructions to the document. An application that runs the workflow sends its own prompts.`;
}

/** The number of a workflow's configurations over models, in words, or why it has none. */
export function configurationsText(
  workflow: WorkflowDocument,
  models: readonly string[],
): { readonly text: string; readonly refused: string | null } {
  const refused = spaceRefusal(workflow, models);
  if (refused !== null) return { text: "none", refused };
  const free = workflow.agents.filter(({ sameModelAs }) => sameModelAs === undefined);
  return { text: formatCount(free.reduce((size, { models: own }) => size * new Set(own ?? models).size, 1)), refused: null };
}
