/** An agent's name and look on this page. */
export interface AgentIdentity {
  readonly key: string;
  /** Without its application. */
  readonly name: string;
  readonly application: string;
  /** CSS colour. Different agents may share one: the name is always shown with it. */
  readonly hue: string;
}

const HUES = ["a", "b", "c", "d", "e", "f", "g", "h"] as const;

/** The name shown for unnamed agents. */
const UNNAMED = "unnamed";

/** Names contain no slash, and neither do applications named after a first agent. */
const slashIn = (key: string): number => key.lastIndexOf("/");

/** The agent's name in a key `application/agent`. */
export const agentName = (key: string): string => key.slice(slashIn(key) + 1) || UNNAMED;

/** The application in a key `application/agent`. */
export const applicationOf = (key: string): string => key.slice(0, Math.max(0, slashIn(key))) || UNNAMED;

/** A key in words: `planner of report`. */
export const agentText = (key: string | null): string => (key === null ? UNNAMED : `${agentName(key)} of ${applicationOf(key)}`);

function hashOf(text: string): number {
  let hash = 2166136261;
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619);
  return hash >>> 0;
}

/** Agents by their keys. */
export type AgentIdentities = ReadonlyMap<string, AgentIdentity>;

/**
 * Agents with stable hues. The key gives the hue; if another agent of the application has it already, the next free one is used,
 * so that agents of one graph differ as long as there are hues. Keys of an application are processed by name, so that their order of
 * arrival does not matter.
 */
export function identifyAgents(keys: readonly string[]): AgentIdentities {
  const taken = new Map<string, Set<number>>();
  const identities = new Map<string, AgentIdentity>();
  for (const key of [...new Set(keys)].sort()) {
    const application = applicationOf(key);
    const ofApplication = taken.get(application) ?? new Set<number>();
    taken.set(application, ofApplication);
    const home = hashOf(key) % HUES.length;
    let slot = home;
    for (let step = 0; step < HUES.length && ofApplication.has(slot); step += 1) slot = (home + step + 1) % HUES.length;
    ofApplication.add(slot);
    identities.set(key, { key, name: agentName(key), application, hue: `var(--model-${HUES[slot]})` });
  }
  return identities;
}
