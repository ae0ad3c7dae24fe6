import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { configurationSpace, modelIn } from "@/solver/workflow/configurationSpace";
import { testModels, testPath, testVoting } from "../testing/testRounds";
import {
  configurationWords,
  neighboursOf,
  prepareChoices,
  prepareLattice,
  prepareWay,
  spaceOfPath,
  stepTo,
  wayWords,
} from "./prepareLattice";

const voting = testVoting(4);
const space = configurationSpace(voting, testModels);
const last = space.size - 1;
const policyOf = (workflow: typeof voting) => ({ kind: "just-in-time", workflows: [{ workflow }] }) as unknown as PolicyDocument;

describe("prepareLattice", () => {
  it("puts every configuration into the column of its upgrades, once, with what became of it", () => {
    const path = testPath(voting, { members: [0, 1, last], kept: [1, last] });
    const { levels, marks, widest } = prepareLattice(path, space);
    expect(levels.map(({ all }) => all)).toEqual([1, 5, 15, 30, 45, 51, 45, 30, 15, 5, 1]);
    expect(widest).toBe(51);
    expect(new Set(marks?.map(({ configuration }) => configuration)).size).toBe(243);
    const stateOf = (wanted: number) => marks?.find(({ configuration }) => configuration === wanted)?.state;
    expect([0, 1, 2, last].map(stateOf)).toEqual(["pruned", "left", "never", "left"]);
    expect(levels.at(-1)).toEqual({ upgrades: 10, all: 1, accurate: 1, left: 1 });
  });

  it("counts by column where there are too many to be drawn", () => {
    const large = testVoting(7);
    const { levels, marks } = prepareLattice(testPath(large, { members: [3 ** 8 - 1] }), configurationSpace(large, testModels));
    expect(marks).toBeNull();
    expect(levels.reduce((sum, { all }) => sum + all, 0)).toBe(3 ** 8);
    expect(levels.reduce((sum, { accurate }) => sum + accurate, 0)).toBe(1);
  });
});

it("leads by keys to marks that exist, and from anywhere to the smallest and the largest models", () => {
  const marks = prepareLattice(testPath(voting, { members: [last] }), space).marks ?? [];
  const keys = ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Home", "End", "Tab"];
  fc.assert(
    fc.property(fc.integer({ min: 0, max: last }), fc.array(fc.constantFrom(...keys), { maxLength: 30 }), (from, pressed) => {
      const at = pressed.reduce((configuration, key) => stepTo(marks, configuration, key), from);
      expect(marks.some(({ configuration }) => configuration === at)).toBe(true);
      expect(Array.from({ length: 10 }).reduce((configuration: number) => stepTo(marks, configuration, "ArrowRight"), at)).toBe(last);
      expect([stepTo(marks, at, "Home"), stepTo(marks, at, "End"), stepTo(marks, at, "Tab")]).toEqual([0, last, at]);
    }),
  );
  // Every mark of a column is reachable from its first.
  const column = marks.filter(({ upgrades }) => upgrades === 3);
  let [at, reached] = [column[0]?.configuration ?? 0, 1];
  for (let next = stepTo(marks, at, "ArrowDown"); next !== at; next = stepTo(marks, at, "ArrowDown")) [at, reached] = [next, reached + 1];
  expect(reached).toBe(column.length);
});

it("takes those for neighbours that differ in one model, by one step", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: last }), (configuration) => {
      const modelsOf = (each: number) => space.agents.map((_, agent) => modelIn(space, each, agent));
      const own = modelsOf(configuration);
      for (const neighbour of neighboursOf(space, configuration))
        expect(modelsOf(neighbour).reduce((sum, model, agent) => sum + Math.abs(model - (own[agent] ?? 0)), 0)).toBe(1);
    }),
  );
  expect(neighboursOf(space, 0)).toHaveLength(5);
});

it("says a configuration in words", () => {
  const marks = prepareLattice(testPath(voting, { members: [last] }), space).marks ?? [];
  const top = marks.find(({ configuration }) => configuration === last);
  expect(top && configurationWords(space, top, last)).toMatch(/: result$/);
  expect(top && configurationWords(space, top, null)).toBe(
    "voter-1 large-70b, voter-2 large-70b, voter-3 large-70b, voter-4 large-70b, counter large-70b: predicted accurate, still possible",
  );
});

describe("prepareWay", () => {
  it("goes by the largest configuration that was left after each choice, down to what came of it", () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: last }), { maxLength: 12 }),
        fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
        (some, decided) => {
          const members = [...new Set([...some, last])];
          const final = members[0] ?? last;
          const chosen = space.agents.map((_, agent) => (decided[agent] ? modelIn(space, final, agent) : -1));
          const way = prepareWay(testPath(voting, { members, chosen }), space);
          expect(way).toHaveLength(1 + decided.filter(Boolean).length);
          expect(way[0]).toEqual({ configuration: last, decided: [] });
          const upgrades = (each: number) => space.agents.reduce((sum, _, agent) => sum + modelIn(space, each, agent), 0);
          for (const [at, mark] of way.entries()) {
            expect(members).toContain(mark.configuration);
            for (const agent of mark.decided.map((name) => space.agents.indexOf(name)))
              expect(modelIn(space, mark.configuration, agent)).toBe(chosen[agent]);
            expect(upgrades(mark.configuration)).toBeLessThanOrEqual(upgrades(way[at - 1]?.configuration ?? last));
          }
          if (decided.every(Boolean)) expect(way.at(-1)?.configuration).toBe(final);
        },
      ),
    );
  });

  it("takes those that others read first, ends where nothing is left, and is told in words", () => {
    const small = last - 2 * (space.steps[4] ?? 1);
    const chosen = [-1, 2, -1, -1, 0];
    const way = prepareWay(testPath(voting, { members: [small, last], chosen }), space);
    expect(way.map(({ decided }) => decided)).toEqual([[], ["voter-2"], ["voter-2", "counter"]]);
    expect(way.map(({ configuration }) => configuration)).toEqual([last, last, small]);
    expect(wayWords(way, last)).toBe("On the path: the largest configuration left after voter-2.");
    expect(wayWords(way.slice(0, 1), last)).toBe("The path starts here.");
    expect(wayWords(way, 0)).toBeNull();
    expect(prepareWay(testPath(voting, { members: [last], chosen }), space)).toHaveLength(2);
  });
});

describe("prepareChoices", () => {
  it("tells what was chosen, what may come, what was ruled out and what never was accurate", () => {
    // Voter 1 small or large with the rest large; it got the small one.
    const small = last - 2 * (space.steps[0] ?? 1);
    const path = testPath(voting, { members: [small, last], kept: [small], chosen: [0, -1, -1, -1, -1] });
    const [first, second] = prepareChoices(path, space);
    expect(first?.cells.map(({ state }) => state)).toEqual(["chosen", "never", "gone"]);
    expect(second?.cells.map(({ state }) => state)).toEqual(["never", "never", "possible"]);
    expect(prepareChoices(path, null)[0]?.cells).toEqual([{ model: "small-8b", state: "chosen", configurations: 0 }]);
  });

  it("tells models that an agent may not have from those that are not accurate for it", () => {
    const narrow = { ...voting, agents: voting.agents.map((agent, at) => (at === 0 ? { ...agent, models: ["large-70b"] } : agent)) };
    const own = configurationSpace(narrow, testModels);
    const [first] = prepareChoices(testPath(narrow, { members: [own.size - 1] }), own);
    expect(first?.cells.map(({ state }) => state)).toEqual(["barred", "barred", "possible"]);
  });
});

it("reads a program's sets only by a policy that declares its workflow as they were made", () => {
  const path = testPath(voting, { members: [last] });
  expect(spaceOfPath(path, policyOf(voting))?.size).toBe(243);
  expect(spaceOfPath(path, policyOf(testVoting(3)))).toBeNull();
  expect(spaceOfPath({ ...path, workflow: "other" }, policyOf(voting))).toBeNull();
  expect(spaceOfPath(path, null)).toBeNull();
});
