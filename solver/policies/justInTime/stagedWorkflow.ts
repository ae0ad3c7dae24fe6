import type { JustInTimePolicy } from "@/solver/plan/policySchema";
import { addConfiguration, emptySet } from "@/solver/workflow/configurationSet";
import { type ConfigurationSpace, configurationSpace, modelIn } from "@/solver/workflow/configurationSpace";
import { type ScoredAnswers, scoredAnswersOf, scoreShift } from "./scoreShift";

/** A declared workflow as a policy serves it: its configurations, and their costs. */
export class StagedWorkflow {
  readonly name: string;
  readonly space: ConfigurationSpace;
  /** Index of each agent. */
  readonly agentAt: ReadonlyMap<string, number>;
  /** The configuration of the largest models throughout, accurate by definition. */
  readonly largest: number;
  /** Cost of each configuration: its models' costs over its agents. */
  readonly cost: Float64Array;
  /** The only configuration of all programs; null where each program has those that are accurate for it. */
  readonly fixed: number | null;
  /** By agent, then by model, what scores of answers say; null: nothing. */
  private readonly answers: readonly (readonly (ScoredAnswers | null)[])[];

  constructor(policy: JustInTimePolicy, index: number) {
    const { models, workflows, selection } = policy;
    const document = workflows[index]?.workflow;
    if (document === undefined) throw new RangeError(`The policy has ${workflows.length} workflows; there is none of index ${index}.`);
    const space = configurationSpace(
      document,
      models.map(({ model }) => model),
    );
    this.name = document.name;
    this.space = space;
    this.agentAt = new Map(space.agents.map((agent, at) => [agent, at]));
    this.largest = space.size - 1;
    this.cost = Float64Array.from({ length: space.size }, (_, configuration) =>
      space.agents.reduce((sum, _agent, agent) => sum + (models[modelIn(space, configuration, agent)]?.cost ?? 0), 0),
    );
    this.answers = scoredAnswersOf(policy, index, space.agents);
    this.fixed = selection.kind === "fixed" ? configurationNamed(space, selection.configurations[document.name] ?? {}) : null;
  }

  /** The change of a program's log odds by the score, 0..100, of an agent's answer by a model; null where scores there say nothing. */
  shiftOf(agent: number, model: number, score: number): number | null {
    const answers = this.answers[agent]?.[model] ?? null;
    return answers === null ? null : scoreShift(score, answers);
  }

  /** Whether scores of any of its answers say something. */
  get isScored(): boolean {
    return this.answers.some((of) => of.some((own) => own !== null));
  }

  /** The set of one configuration. */
  only(configuration: number): Uint32Array {
    const set = emptySet(this.space.size);
    addConfiguration(set, configuration);
    return set;
  }
}

/** The configuration in which agents have the given models; null where there is none. */
export function configurationNamed(space: ConfigurationSpace, names: Readonly<Record<string, string>>): number | null {
  const wanted = space.agents.map((agent) => space.models.indexOf(names[agent] ?? ""));
  let configuration = 0;
  for (const [choice, options] of space.options.entries()) {
    const digit = options.indexOf(wanted[space.choiceOf.indexOf(choice)] ?? -1);
    if (digit < 0) return null;
    configuration += digit * (space.steps[choice] ?? 0);
  }
  return wanted.every((model, agent) => modelIn(space, configuration, agent) === model) ? configuration : null;
}
