import { MOST_CONFIGURATIONS, type WorkflowDocument } from "@/solver/plan/workflowDocument";
import { addConfiguration, emptySet } from "./configurationSet";

/**
 * All configurations of a workflow: one model for each agent (Aragog, section 3.1). A configuration is a number. Agents that must have the
 * same model are one choice; the choices are its digits, the first agent's the most significant, each an index into its permitted models,
 * smallest first. So 0 is the smallest models throughout, and the highest number the largest.
 */
export interface ConfigurationSpace {
  /** Agents by name, in the order in which the workflow declares them. */
  readonly agents: readonly string[];
  /** Smallest first. */
  readonly models: readonly string[];
  /** Number of configurations. */
  readonly size: number;
  /** Free choices: the models of each, by ascending index, and by agent the index of its choice. */
  readonly options: readonly (readonly number[])[];
  readonly choiceOf: readonly number[];
  /** Increment of a configuration's number for one step up in a choice. */
  readonly steps: readonly number[];
  /** By agent, then by model: the configurations in which the agent has that model. */
  readonly having: readonly (readonly Uint32Array[])[];
  /** By agent, the longest path to an agent that no other reads, in agents after it. */
  readonly depth: readonly number[];
  /** By agent, those whose answers it reads, by index. */
  readonly reads: readonly (readonly number[])[];
}

/** The index of the model that an agent has in a configuration. */
export function modelIn({ options, choiceOf, steps }: ConfigurationSpace, configuration: number, agent: number): number {
  const choice = choiceOf[agent] ?? 0;
  const own = options[choice] ?? [];
  return own[Math.floor(configuration / (steps[choice] ?? 1)) % own.length] ?? 0;
}

/** Why a workflow has no configurations over these models, in one sentence; null where it has. */
export function spaceRefusal(workflow: WorkflowDocument, models: readonly string[]): string | null {
  const free = workflow.agents.filter(({ sameModelAs }) => sameModelAs === undefined);
  let size = 1;
  for (const { name, models: own } of free) {
    const stranger = own?.find((model) => !models.includes(model));
    if (stranger !== undefined) return `${name} of ${workflow.name} may run on ${stranger}, which is not among ${models.join(", ")}.`;
    size *= new Set(own ?? models).size;
  }
  if (size <= MOST_CONFIGURATIONS) return null;
  return `${workflow.name} has ${size.toLocaleString("en")} configurations over ${models.length} models, more than ${MOST_CONFIGURATIONS.toLocaleString("en")}: let fewer models run some of its agents, or give agents the same model.`;
}

/**
 * The configurations of a workflow over models, smallest first.
 *
 * @throws RangeError with the sentence of `spaceRefusal`.
 */
export function configurationSpace(workflow: WorkflowDocument, models: readonly string[]): ConfigurationSpace {
  const refusal = spaceRefusal(workflow, models);
  if (refusal !== null) throw new RangeError(refusal);
  const agents = workflow.agents.map(({ name }) => name);
  const choiceOf: number[] = [];
  const options: number[][] = [];
  for (const { sameModelAs, models: own } of workflow.agents) {
    if (sameModelAs === undefined) {
      choiceOf.push(options.length);
      options.push(models.flatMap((model, index) => (own === undefined || own.includes(model) ? [index] : [])));
    } else choiceOf.push(choiceOf[agents.indexOf(sameModelAs)] ?? 0);
  }
  const steps = options.map((_, choice) => options.slice(choice + 1).reduce((product, later) => product * later.length, 1));
  const size = options.reduce((product, each) => product * each.length, 1);
  const reads = workflow.agents.map((agent) => agent.reads.map((read) => agents.indexOf(read)));
  const space = { agents, models, size, options, choiceOf, steps, reads, depth: depthsOf(reads) };
  const having = agents.map((_, agent) => {
    const sets = models.map(() => emptySet(size));
    for (let configuration = 0; configuration < size; configuration += 1) {
      const set = sets[modelIn({ ...space, having: [] }, configuration, agent)];
      if (set !== undefined) addConfiguration(set, configuration);
    }
    return sets;
  });
  return { ...space, having };
}

function depthsOf(reads: readonly (readonly number[])[]): number[] {
  const depth = reads.map(() => 0);
  // Agents come after those they read, so that each is final before it counts.
  for (let agent = reads.length - 1; agent >= 0; agent -= 1) {
    for (const read of reads[agent] ?? []) depth[read] = Math.max(depth[read] ?? 0, (depth[agent] ?? 0) + 1);
  }
  return depth;
}

/** A configuration in words: the model of each agent, by name. */
export function configurationNames(space: ConfigurationSpace, configuration: number): Record<string, string> {
  return Object.fromEntries(space.agents.map((name, agent) => [name, space.models[modelIn(space, configuration, agent)] ?? ""]));
}
