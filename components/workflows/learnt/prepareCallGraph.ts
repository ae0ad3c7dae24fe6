import { formatCounted, formatPercent, formatSeconds } from "@/components/ui/format";
import type { ApplicationView, CallGraphEdge, CallGraphNode } from "@/solver/workflow/learning/workflowsView";
import type { AgentIdentities, AgentIdentity } from "../graph/agentIdentity";
import type { LaidEdge } from "../graph/drawEdges";
import { layOutGraph } from "../graph/layOutGraph";

/** More agents than these are hard to read at once: the rarest of them are merged. */
export const MOST_AGENTS = 24;
/** With more edges only the most frequent ones have a label in the picture; the table has all. */
export const MOST_LABELS = 36;
/** Sizes of an edge's label: a digit's width, its height, and the padding. */
const [LETTER_WIDTH, LABEL_HEIGHT, LABEL_MARGIN] = [6.5, 16, 8];
const [THINNEST, THICKEST] = [1.25, 6];

export interface DrawnAgent {
  readonly key: string;
  readonly x: number;
  readonly y: number;
  /** null: the merged rare agents. */
  readonly identity: AgentIdentity | null;
  readonly name: string;
  /** `1.24 s · 85 %`. */
  readonly figures: string;
  /** The same in a sentence. */
  readonly says: string;
}

export interface DrawnEdge extends LaidEdge {
  readonly key: string;
  readonly from: string;
  readonly to: string;
  readonly width: number;
  /** Calls per program with a sign of their kind; empty where there are too many to read, or another label is in its place. */
  readonly label: string;
  readonly says: string;
}

/** An edge in the table. */
interface EdgeRow {
  readonly key: string;
  readonly from: string;
  readonly to: string;
  readonly perProgram: string;
  readonly programs: string;
  readonly how: string;
}

export interface CallGraphPicture {
  readonly width: number;
  readonly height: number;
  readonly agents: readonly DrawnAgent[];
  readonly edges: readonly DrawnEdge[];
  readonly rows: readonly EdgeRow[];
  /** Agents that were merged. */
  readonly folded: number;
  /** Calls among those, which are not drawn. */
  readonly foldedCalls: number;
  readonly says: string;
}

/** A key that no agent has: there is no slash in it. */
const RARE = "rare";

/** The kinds of calls as signs; `howText` has the words. */
const signs = { parallel: "∥", joins: "⋈", loop: "↺" } as const;
export const signWords = {
  [signs.parallel]: "side by side with others",
  [signs.joins]: "reads other answers too",
  [signs.loop]: "loops back",
} as const;

/** The kind of most of an edge's calls. */
const mostly = (part: number, { calls }: CallGraphEdge): boolean => part * 2 > calls;

const signsOf = (edge: CallGraphEdge): string =>
  [mostly(edge.parallel, edge) && signs.parallel, mostly(edge.joins, edge) && signs.joins, edge.loop && signs.loop]
    .filter((sign) => sign !== false)
    .join("");

function howText(edge: CallGraphEdge): string {
  const share = (part: number) => (part === edge.calls ? "" : ` (${formatPercent(part / edge.calls)})`);
  const parts = [
    edge.parallel > 0 && `side by side with others${share(edge.parallel)}`,
    edge.joins > 0 && `reads other answers too${share(edge.joins)}`,
    edge.loop && "loops back to an earlier agent",
  ].filter((part) => part !== false);
  return parts.length === 0 ? "alone or sequential" : parts.join(", ");
}

/** Calls per program: a few hundred programs justify two digits. */
const perProgram = (calls: number, programs: number): string => (programs === 0 ? "–" : (calls / programs).toFixed(2));

const says = (node: CallGraphNode, name: string, programs: number): string =>
  [
    `${name}: ${formatSeconds(node.meanSeconds)} from dispatch to answer on average`,
    `in ${formatPercent(node.programs / Math.max(1, programs))} of programs`,
    `${perProgram(node.calls, Math.max(1, node.programs))} calls in each of those`,
    node.begins > 0 ? `starts ${formatPercent(node.begins / Math.max(1, programs))} of them` : "",
    node.ends > 0 ? `ends ${formatPercent(node.ends / Math.max(1, programs))} of them` : "",
  ]
    .filter((part) => part !== "")
    .join(", ");

/** Lays out an application's calls: agents by depth from left to right, the width of edges by their frequency, rare agents merged. */
export function prepareCallGraph(
  application: ApplicationView,
  { all, identities }: { readonly all: boolean; readonly identities: AgentIdentities },
): CallGraphPicture {
  const { programs } = application;
  const nameOf = (key: string) => (key === RARE ? "rarer agents" : (identities.get(key)?.name ?? key));
  const { nodes, edges, folded, foldedCalls } = fold(application, all);
  const layout = layOutGraph({ nodes, edges });
  const most = edges.reduce((largest, { calls }) => Math.max(largest, calls), 1);
  const labels = labelsOf(edges, layout.edges, programs);
  const nodeOf = new Map(nodes.map((node) => [node.key, node]));
  return {
    width: layout.width,
    height: layout.height,
    agents: layout.nodes.flatMap(({ key, x, y }): DrawnAgent | [] => {
      const node = nodeOf.get(key);
      if (node === undefined) return [];
      const name = key === RARE ? `${folded} rarer agents` : nameOf(key);
      const figures =
        key === RARE
          ? formatCounted(node.calls, "call")
          : `${formatSeconds(node.meanSeconds)} · ${formatPercent(node.programs / Math.max(1, programs))}`;
      return { key, x, y, identity: identities.get(key) ?? null, name, figures, says: says(node, name, programs) };
    }),
    edges: edges.flatMap((edge, at): DrawnEdge | [] => {
      const laid = layout.edges[at];
      if (laid === undefined) return [];
      const { from, to, calls } = edge;
      return {
        ...laid,
        ...{ key: `${from}>${to}`, from, to },
        width: THINNEST + (THICKEST - THINNEST) * (calls / most),
        label: labels.get(edge) ?? "",
        says: `${nameOf(from)} to ${nameOf(to)}: ${perProgram(calls, programs)} calls a program, ${howText(edge)}`,
      };
    }),
    rows: application.edges
      .toSorted((a, b) => b.calls - a.calls)
      .map((edge) => ({
        key: `${edge.from}>${edge.to}`,
        ...{ from: nameOf(edge.from), to: nameOf(edge.to) },
        perProgram: perProgram(edge.calls, programs),
        programs: formatPercent(edge.programs / Math.max(1, programs)),
        how: howText(edge),
      })),
    folded,
    foldedCalls,
    says: `Call graph of ${application.name}: ${formatCounted(application.nodes.length, "agent")}, ${formatCounted(application.edges.length, "edge")} between them. The table has the same data.`,
  };
}

/** The labels of the most frequent edges, as long as none overlaps another. */
function labelsOf(edges: readonly CallGraphEdge[], laid: readonly LaidEdge[], programs: number): ReadonlyMap<CallGraphEdge, string> {
  const labels = new Map<CallGraphEdge, string>();
  const placed: { readonly x: number; readonly y: number; readonly width: number }[] = [];
  const byCalls = edges.map((edge, at) => ({ edge, at: laid[at] })).sort((a, b) => b.edge.calls - a.edge.calls);
  for (const { edge, at } of byCalls) {
    if (placed.length === MOST_LABELS) break;
    if (at === undefined) continue;
    const text = `${perProgram(edge.calls, programs)}${signsOf(edge) && ` ${signsOf(edge)}`}`;
    const box = { x: at.labelX, y: at.labelY, width: text.length * LETTER_WIDTH + LABEL_MARGIN };
    if (placed.some(({ x, y, width }) => Math.abs(x - box.x) < (width + box.width) / 2 && Math.abs(y - box.y) < LABEL_HEIGHT)) continue;
    placed.push(box);
    labels.set(edge, text);
  }
  return labels;
}

interface FoldedGraph {
  readonly nodes: readonly CallGraphNode[];
  readonly edges: readonly CallGraphEdge[];
  readonly folded: number;
  readonly foldedCalls: number;
}

/** The most frequently called agents, and the others merged, with their edges. */
function fold({ nodes, edges }: ApplicationView, all: boolean): FoldedGraph {
  if (all || nodes.length <= MOST_AGENTS) return { nodes, edges: edges.filter(hasEnds(nodes)), folded: 0, foldedCalls: 0 };
  const byCalls = nodes.toSorted((a, b) => b.calls - a.calls || (a.key < b.key ? -1 : 1));
  const [kept, rare] = [byCalls.slice(0, MOST_AGENTS - 1), byCalls.slice(MOST_AGENTS - 1)];
  const sum = (part: (node: CallGraphNode) => number) => rare.reduce((total, node) => total + part(node), 0);
  const calls = Math.max(
    1,
    sum((node) => node.calls),
  );
  const together: CallGraphNode = {
    ...{ key: RARE, name: RARE, calls: sum((node) => node.calls), meanOutputTokens: null },
    // The number of programs that called any of them is not known: at least that of the most common one.
    programs: rare.reduce((most, node) => Math.max(most, node.programs), 0),
    ...{ begins: sum(({ begins }) => begins), ends: sum(({ ends }) => ends) },
    depth: sum((node) => node.depth * node.calls) / calls,
    meanSeconds: sum((node) => node.meanSeconds * node.calls) / calls,
  };
  const isKept = new Set(kept.map(({ key }) => key));
  const merged = new Map<string, CallGraphEdge>();
  let foldedCalls = 0;
  for (const edge of edges.filter(hasEnds(nodes))) {
    const [from, to] = [isKept.has(edge.from) ? edge.from : RARE, isKept.has(edge.to) ? edge.to : RARE];
    if (from === RARE && to === RARE) {
      foldedCalls += edge.calls;
      continue;
    }
    const before = merged.get(`${from}>${to}`);
    merged.set(`${from}>${to}`, {
      ...{ from, to, calls: edge.calls + (before?.calls ?? 0), programs: Math.max(edge.programs, before?.programs ?? 0) },
      ...{ parallel: edge.parallel + (before?.parallel ?? 0), joins: edge.joins + (before?.joins ?? 0) },
      loop: edge.loop || (before?.loop ?? false),
    });
  }
  return { nodes: [...kept, together], edges: [...merged.values()], folded: rare.length, foldedCalls };
}

/** An edge can outlive one of its agents that was dropped at the bound. */
const hasEnds = (nodes: readonly CallGraphNode[]) => {
  const keys = new Set(nodes.map(({ key }) => key));
  return ({ from, to }: CallGraphEdge) => keys.has(from) && keys.has(to);
};
