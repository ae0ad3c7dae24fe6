import type { Answer } from "@/server/clusters/connector/connector";
import type { HostObservation } from "@/server/clusters/connector/engineHost";
import { gpuKeys } from "@/server/clusters/steps/targetEngines";
import type { Finding } from "@/server/contracts/studio";
import { failed, ok, warn } from "@/server/engineClient/finding";

/** Most nodes and engines that are named. */
const mostNamed = 6;

/**
 * Findings of an observation through a connection, for an operator: what was reached, its nodes, its GPUs and how many are free, its
 * engines.
 */
export function observationFindings(found: Answer<HostObservation>): readonly Finding[] {
  if (!found.ok) return [failed("reached", found.message, null)];
  const { gpu, nodes, engines, notes = [] } = found.value;
  const used = usedByNode(found.value);
  const free = nodes.map(({ name, gpus, othersGpus = 0 }) => Math.max(0, gpus - othersGpus - (used.get(name) ?? 0)));
  const types = [...new Set(nodes.map((node) => node.gpu ?? gpu))];
  const byType = types.map((type) => {
    const of = nodes.map((node, index) => ((node.gpu ?? gpu) === type ? [node.gpus, free[index] ?? 0] : [0, 0]));
    const [count, spare] = [0, 1].map((part) => of.reduce((sum, pair) => sum + (pair[part] ?? 0), 0));
    return `${count} ${type}, ${spare} of them free`;
  });
  const closed = nodes.filter((node) => node.closed != null);
  return [
    ok("reached", "It answers."),
    nodes.length === 0
      ? failed("nodes", "It has no node with GPUs.", "Check the labels of its nodes, or name the card of its GPUs.")
      : ok("nodes", `It has ${counted(nodes.length, "node")} with GPUs: ${listed(nodes.map(({ name }) => name))}.`),
    ...closed.map((node) => warn("nodes", `${node.name} ${node.closed}.`, null)),
    ...(byType.length === 0 ? [] : [ok("gpus", `${byType.join("; ")}.`)]),
    engines.length === 0
      ? ok("engines", "No engine of this cluster runs.")
      : ok("engines", `${counted(engines.length, "engine")} found: ${listed(engines.map(({ id }) => id))}.`),
    ...notes.map((note) => warn("engines", note, null)),
  ];
}

/** GPUs in use by engines that Weir knows, by node. */
export function usedByNode({ engines }: Pick<HostObservation, "engines">): ReadonlyMap<string, number> {
  const used = new Map<string, number>();
  for (const key of new Set(engines.flatMap(gpuKeys))) {
    const node = key.slice(0, key.lastIndexOf("/"));
    used.set(node, (used.get(node) ?? 0) + 1);
  }
  return used;
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

const listed = (names: readonly string[]): string =>
  names.length <= mostNamed ? names.join(", ") : `${names.slice(0, mostNamed).join(", ")} and ${names.length - mostNamed} more`;
