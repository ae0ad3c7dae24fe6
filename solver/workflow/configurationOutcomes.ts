import { addConfiguration, countInBoth, countOf, emptySet } from "./configurationSet";
import type { ConfigurationSpace } from "./configurationSpace";
import { answerStage, misledStages, noAnswers } from "./programQuality";
import type { ProgramSample } from "./programSample";
import { agentNames } from "./workflowDocuments";

/** Qualities that differ by less count as equal: they are means of the same parts in another order. */
const TOLERANCE = 1e-9;

/**
 * Quality (0..100) of a program under every configuration of a space, by number: modelled as in `programQuality`. NaN where a label is
 * missing. Its stages are the agents of the space, in their order.
 *
 * @throws RangeError where the program has other stages than the space has agents, or the sample lacks a model of the space.
 */
export function configurationQuality(sample: ProgramSample, program: number, space: ConfigurationSpace): Float64Array {
  const stages = stagesOf(sample, program);
  if (stages.length !== space.agents.length)
    throw new RangeError(`Program ${program} has ${stages.length} stages, and its configurations ${space.agents.length} agents`);
  const labels = labelsOf(sample, program, space);
  const answered = noAnswers(stages, misledStages(sample, program));
  const quality = new Float64Array(space.size);
  const chosen = new Int32Array(space.options.length).fill(-1);
  // Configurations that agree in their first agents share the answers of these.
  const answer = (agent: number, configuration: number, known: boolean): void => {
    if (agent === stages.length) {
      quality[configuration] = known ? (answered.answer[agent - 1] ?? Number.NaN) : Number.NaN;
      return;
    }
    const choice = space.choiceOf[agent] ?? 0;
    const own = space.options[choice] ?? [];
    const next = (option: number, number: number): void => {
      const label = labels[agent]?.[own[option] ?? -1] ?? Number.NaN;
      answerStage(answered, agent, label);
      answer(agent + 1, number, known && !Number.isNaN(label));
    };
    const before = chosen[choice] ?? -1;
    if (before >= 0) {
      next(before, configuration);
      return;
    }
    for (let option = 0; option < own.length; option += 1) {
      chosen[choice] = option;
      next(option, configuration + option * (space.steps[choice] ?? 1));
    }
    chosen[choice] = -1;
  };
  answer(0, 0, true);
  return quality;
}

const stagesOf = ({ workflows, workflow }: ProgramSample, program: number) => workflows[workflow[program] ?? -1]?.stages ?? [];

/** By agent, its label on each model of the space. */
function labelsOf({ models, label, firstRequest }: ProgramSample, program: number, space: ConfigurationSpace): readonly Float64Array[] {
  const first = firstRequest[program] ?? 0;
  const own = space.models.map((model) => {
    const at = models.indexOf(model);
    if (at < 0) throw new RangeError(`No outcomes of ${model} among those of ${models.join(", ")}`);
    return label[at];
  });
  return space.agents.map((_, agent) => Float64Array.from(own, (labels) => labels?.[first + agent] ?? Number.NaN));
}

/** Configurations at least as good as the one with the largest models throughout, which is always included, even if quality is unknown. */
export function accurateSet(quality: Float64Array): Uint32Array {
  const set = emptySet(quality.length);
  const largest = quality.length - 1;
  const enough = (quality[largest] ?? Number.NaN) - TOLERANCE;
  for (const [configuration, worth] of quality.entries()) if (worth >= enough) addConfiguration(set, configuration);
  addConfiguration(set, largest);
  return set;
}

/**
 * Accurate configurations according to an oracle, by program; undefined for programs of workflows that have no space here, by name, and for
 * those that take another shape than its agents. Computed on demand and cached.
 */
export function oracleConfigurations(
  sample: ProgramSample,
  spaces: ReadonlyMap<string, ConfigurationSpace>,
): (program: number) => Uint32Array | undefined {
  const spaceOf = sample.workflows.map(({ name, stages }) => {
    const space = spaces.get(name);
    const names = agentNames(stages);
    return space !== undefined && space.agents.length === names.length && names.every((agent, at) => agent === space.agents[at])
      ? space
      : undefined;
  });
  const known = new Map<number, Uint32Array>();
  return (program) => {
    const space = spaceOf[sample.workflow[program] ?? -1];
    if (space === undefined) return undefined;
    const set = known.get(program) ?? accurateSet(configurationQuality(sample, program, space));
    known.set(program, set);
    return set;
  };
}

/** How often an upgrade makes programs worse: one agent, or agents that share a model, gets a larger model while the others keep theirs. */
export interface UpgradeViolations {
  /** Pairs of configurations that differ by one upgrade, by any number of sizes (the source's Figure 7 counts these). */
  readonly upgrades: number;
  /** Drops in mean quality over programs, in points, of each upgrade that lowers it; the largest first. */
  readonly falls: Float64Array;
  /** Share of upgrades of single programs that lower the program's quality, 0..1. */
  readonly perProgram: number;
}

/**
 * Upgrades of a space that break monotonicity, over programs whose qualities by configuration are given (Aragog, section 3.1). Programs of
 * unknown quality do not count.
 */
export function upgradeViolations(space: ConfigurationSpace, qualities: readonly Float64Array[]): UpgradeViolations {
  const known = qualities.filter((quality) => !quality.some(Number.isNaN));
  const means = new Float64Array(space.size);
  for (const quality of known) for (const [at, worth] of quality.entries()) means[at] = (means[at] ?? 0) + worth / known.length;
  const upgrades = upgradesOf(space);
  const falls = upgrades.map(([from, to]) => (means[from] ?? 0) - (means[to] ?? 0)).filter((fall) => fall > TOLERANCE);
  let single = 0;
  for (const quality of known) for (const [from, to] of upgrades) if ((quality[from] ?? 0) - (quality[to] ?? 0) > TOLERANCE) single += 1;
  const pairs = upgrades.length * known.length;
  return { upgrades: upgrades.length, falls: Float64Array.from(falls).sort().reverse(), perProgram: pairs === 0 ? 0 : single / pairs };
}

function upgradesOf({ size, options, steps }: ConfigurationSpace): readonly (readonly [number, number])[] {
  const upgrades: [number, number][] = [];
  for (const [choice, own] of options.entries()) {
    const step = steps[choice] ?? 1;
    for (let from = 0; from < size; from += 1) {
      const option = Math.floor(from / step) % own.length;
      for (let larger = option + 1; larger < own.length; larger += 1) upgrades.push([from, from + (larger - option) * step]);
    }
  }
  return upgrades;
}

/** From this label on an answer counts as right. */
const RIGHT_FROM = 50;

/** How right answers of an agent by one model, and accurate programs, go together; chances, 0..1. */
export interface AnswerRelation {
  readonly agent: string;
  readonly model: string;
  readonly rightIfAccurate: number;
  readonly rightIfNot: number;
}

/**
 * How often an answer of each agent by each model is right where its program is accurate, and where it is not: over the programs of a workflow
 * whose quality is known, and all configurations in which the agent has the model, each counted once and smoothed by half a case. An agent's
 * largest model is left out, since the configuration that programs are compared with has its answer too; and so are answers that are right as
 * often where the program is not accurate.
 *
 * @param workflow name of the workflow of the space.
 * @throws RangeError as `configurationQuality` does.
 */
export function answerRelations(sample: ProgramSample, space: ConfigurationSpace, workflow: string): readonly AnswerRelation[] {
  const counts = space.agents.map(() => space.models.map(() => ({ accurate: 0, rightAccurate: 0, not: 0, rightNot: 0 })));
  const models = space.models.map((model) => sample.models.indexOf(model));
  for (const [program, index] of sample.workflow.entries()) {
    if (sample.workflows[index]?.name !== workflow) continue;
    const quality = configurationQuality(sample, program, space);
    if (quality.some(Number.isNaN)) continue;
    const set = accurateSet(quality);
    for (const [agent, own] of counts.entries()) {
      const request = (sample.firstRequest[program] ?? 0) + agent;
      for (const [model, count] of own.entries()) {
        const having = space.having[agent]?.[model] ?? set;
        const accurate = countInBoth(set, having);
        const not = countOf(having) - accurate;
        const isRight = (sample.label[models[model] ?? -1]?.[request] ?? 0) >= RIGHT_FROM;
        count.accurate += accurate;
        count.not += not;
        if (!isRight) continue;
        count.rightAccurate += accurate;
        count.rightNot += not;
      }
    }
  }
  return space.agents.flatMap((agent, at) => {
    const own = space.options[space.choiceOf[at] ?? 0] ?? [];
    return own.slice(0, -1).flatMap((model): AnswerRelation[] => {
      const { accurate = 0, rightAccurate = 0, not = 0, rightNot = 0 } = counts[at]?.[model] ?? {};
      const relation = { rightIfAccurate: (rightAccurate + 0.5) / (accurate + 1), rightIfNot: (rightNot + 0.5) / (not + 1) };
      return relation.rightIfAccurate > relation.rightIfNot ? [{ agent, model: space.models[model] ?? "", ...relation }] : [];
    });
  });
}
