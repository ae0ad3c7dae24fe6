import fc from "fast-check";
import { expect, test } from "vitest";
import { MOST_CONFIGURATIONS, type WorkflowDocument, workflowDocumentSchema } from "../plan/workflowDocument";
import {
  addConfiguration,
  countInBoth,
  countOf,
  emptySet,
  fullSet,
  hasConfiguration,
  intersection,
  meet,
  membersOf,
} from "./configurationSet";
import { type ConfigurationSpace, configurationNames, configurationSpace, modelIn, spaceRefusal } from "./configurationSpace";

/** Any workflow of up to five agents over up to three models, some of which share another's model or are restricted to a few. */
const anyWorkflow = fc
  .record({
    models: fc.integer({ min: 1, max: 3 }).map((count) => ["small", "middle", "large"].slice(0, count)),
    agents: fc.array(fc.record({ reads: fc.array(fc.nat(), { maxLength: 3 }), same: fc.option(fc.nat()), few: fc.option(fc.nat()) }), {
      minLength: 1,
      maxLength: 5,
    }),
  })
  .map(({ models, agents }) => ({
    models,
    workflow: workflowDocumentSchema.parse({
      name: "any",
      agents: agents.map(({ reads, same, few }, at) => ({
        name: `agent-${at}`,
        reads: at === 0 ? [] : [...new Set(reads.map((read) => `agent-${read % at}`))],
        ...(at > 0 && same !== null ? { sameModelAs: `agent-${same % at}` } : few !== null ? { models: someOf(models, few) } : {}),
      })),
    }),
  }));

/** A non-empty subset of the models, in any order. */
const someOf = (models: readonly string[], drawn: number): string[] => {
  const some = models.filter((_, at) => ((1 + (drawn % (2 ** models.length - 1))) >> at) & 1);
  return drawn % 2 === 0 ? some : some.reverse();
};

const every = ({ size }: ConfigurationSpace): number[] => Array.from({ length: size }, (_, at) => at);

test("a configuration is the number that its models spell, smallest throughout first, largest throughout last", () => {
  fc.assert(
    fc.property(anyWorkflow, ({ workflow, models }) => {
      const space = configurationSpace(workflow, models);
      const spelt = every(space).map((configuration) => space.agents.map((_, agent) => modelIn(space, configuration, agent)));
      expect(new Set(spelt.map(String)).size).toBe(space.size);
      for (const [configuration, chosen] of spelt.entries()) {
        // Each choice counts at its first agent; later agents that share its model add nothing.
        const number = space.options.reduce((sum, own, choice) => {
          return sum + own.indexOf(chosen[space.choiceOf.indexOf(choice)] ?? -1) * (space.steps[choice] ?? 0);
        }, 0);
        expect(number).toBe(configuration);
      }
      for (const [agent, chosen] of space.agents.entries()) {
        const own = space.options[space.choiceOf[agent] ?? -1] ?? [];
        expect(chosen).toBe(workflow.agents[agent]?.name);
        expect([spelt[0]?.[agent], spelt[space.size - 1]?.[agent]]).toEqual([Math.min(...own), Math.max(...own)]);
      }
    }),
    { numRuns: 200 },
  );
});

test("every agent has a model that it may run on, and that of the agent whose model it shares", () => {
  fc.assert(
    fc.property(anyWorkflow, ({ workflow, models }) => {
      const space = configurationSpace(workflow, models);
      for (const configuration of every(space)) {
        const named = configurationNames(space, configuration);
        for (const { name, models: own, sameModelAs } of workflow.agents) {
          expect(own ?? models).toContain(named[name]);
          if (sameModelAs !== undefined) expect(named[name]).toBe(named[sameModelAs]);
        }
      }
      const free = workflow.agents.filter(({ sameModelAs }) => sameModelAs === undefined);
      expect(space.size).toBe(free.reduce((product, { models: own }) => product * (own ?? models).length, 1));
    }),
    { numRuns: 100 },
  );
});

test("by the model that an agent has, configurations fall into parts that have none in common and leave none out", () => {
  fc.assert(
    fc.property(anyWorkflow, ({ workflow, models }) => {
      const space = configurationSpace(workflow, models);
      for (const [agent, sets] of space.having.entries()) {
        expect(sets).toHaveLength(models.length);
        const members = sets.flatMap((set, model) => {
          for (const configuration of membersOf(set)) expect(modelIn(space, configuration, agent)).toBe(model);
          return membersOf(set);
        });
        expect(members.sort((one, other) => one - other)).toEqual(every(space));
      }
    }),
    { numRuns: 100 },
  );
});

test("an agent is as deep as the longest way from it to one that nobody reads", () => {
  fc.assert(
    fc.property(anyWorkflow, ({ workflow, models }) => {
      const space = configurationSpace(workflow, models);
      const longest = (agent: number): number =>
        Math.max(0, ...space.reads.flatMap((reads, reader) => (reads.includes(agent) ? [1 + longest(reader)] : [])));
      expect(space.depth).toEqual(space.agents.map((_, agent) => longest(agent)));
      const named = space.reads.map((reads) => reads.map((read) => space.agents[read]));
      expect(named).toEqual(workflow.agents.map(({ reads }) => reads));
    }),
    { numRuns: 200 },
  );
});

test("sets of configurations say what sets of numbers say", () => {
  const anySet = (size: number) => fc.uniqueArray(fc.nat({ max: size - 1 }));
  const sized = fc.integer({ min: 1, max: 200 }).chain((size) => fc.tuple(fc.constant(size), anySet(size), anySet(size)));
  fc.assert(
    fc.property(sized, ([size, one, other]) => {
      const [left, right] = [new Set(one), new Set(other)];
      const [bits, others] = [setOf(one, size), setOf(other, size)];
      const both = [...left].filter((member) => right.has(member)).sort((a, b) => a - b);
      expect(membersOf(bits)).toEqual([...left].sort((a, b) => a - b));
      for (let at = 0; at < size; at += 1) expect(hasConfiguration(bits, at)).toBe(left.has(at));
      expect([countOf(bits), countInBoth(bits, others), meet(bits, others)]).toEqual([left.size, both.length, both.length > 0]);
      expect(membersOf(intersection(bits, others))).toEqual(both);
      expect(membersOf(fullSet(size))).toEqual(Array.from({ length: size }, (_, at) => at));
    }),
    { numRuns: 500 },
  );
});

const workflowOf = (agents: WorkflowDocument["agents"][number]["name"][], models?: readonly string[]) =>
  workflowDocumentSchema.parse({ name: "many", agents: agents.map((name) => ({ name, ...(models ? { models } : {}) })) });

test("the largest space is that of eight agents over three models, and one more is refused with its size", () => {
  const letters = [..."abcdefgh"];
  const models = ["small", "middle", "large"];
  expect(configurationSpace(workflowOf(letters), models).size).toBe(MOST_CONFIGURATIONS);
  expect(spaceRefusal(workflowOf([...letters, "i"]), models)).toContain("many has 19,683 configurations over 3 models, more than 6,561");
  expect(() => configurationSpace(workflowOf([...letters, "i"]), models)).toThrow("more than 6,561");
});

test("an agent that may run on a model nobody has is refused by name", () => {
  expect(spaceRefusal(workflowOf(["a"], ["huge"]), ["small", "large"])).toBe("a of many may run on huge, which is not among small, large.");
});

function setOf(members: readonly number[], size: number): Uint32Array {
  const set = emptySet(size);
  for (const member of members) addConfiguration(set, member);
  return set;
}
