import fc from "fast-check";
import { expect, test } from "vitest";
import { seededRandom } from "@/solver/numeric/random";
import { shuffled } from "@/solver/numeric/shuffled";
import { testCall } from "../testing/testCall";
import { drawKnownProgram, type ProgramShape, structureFound, TEST_RESOLUTION_SECONDS } from "../testing/testProgramGraphs";
import { callGraph } from "./callGraph";
import type { ObservedCall } from "./observedCall";

const at = (agent: string, arrivedSeconds: number, finishedSeconds: number, upstream: readonly string[] = []): ObservedCall =>
  testCall({ agent, arrivedSeconds, finishedSeconds, upstream });

const graphOf = (...calls: readonly ObservedCall[]) => callGraph(calls, TEST_RESOLUTION_SECONDS);

/** The successors of each agent's calls, in words: `A: B+C D` is B in parallel with C and then D. */
function inWords({ calls, steps }: ReturnType<typeof graphOf>): readonly string[] {
  const name = (call: number): string => calls[call]?.agent ?? "";
  return calls.map(({ agent }, call) => `${agent}: ${(steps[call] ?? []).map((step) => step.map(name).join("+")).join(" ")}`);
}

test("of 1000 random programs the structure is found as it was, but where spans touch and it is said", () => {
  const found = { equal: 0, tied: 0, wrong: 0 };
  const met = new Set<ProgramShape>();
  for (let seed = 0; seed < 1000; seed += 1) {
    const program = drawKnownProgram(seed);
    found[structureFound(program)] += 1;
    for (const shape of program.shapes) met.add(shape);
  }
  expect(found.wrong).toBe(0);
  expect(found.equal).toBeGreaterThan(900);
  expect(found.tied).toBeGreaterThan(0);
  expect([...met].sort()).toEqual(
    ["beginnings", "call", "chain", "fan-out", "in-turn", "join", "loop", "same-agents", "unnamed-upstream"].sort(),
  );
});

test("several children of one parent in turn are told from a chain, and from children side by side", () => {
  const chain = graphOf(at("A", 0, 1), at("B", 1, 2, ["A"]), at("C", 2, 3, ["B"]));
  const inTurn = graphOf(at("A", 0, 1), at("B", 1.1, 2, ["A"]), at("C", 2.1, 3, ["A"]));
  const beside = graphOf(at("A", 0, 1), at("B", 1.1, 2, ["A"]), at("C", 1.9, 3, ["A"]));
  expect([chain, inTurn, beside].map(inWords)).toEqual([
    ["A: B", "B: C", "C: "],
    ["A: B C", "B: ", "C: "],
    ["A: B+C", "B: ", "C: "],
  ]);
  expect([chain, inTurn, beside].map(({ remainingCalls }) => [...remainingCalls])).toEqual([
    [3, 2, 1],
    [3, 2, 1],
    [2, 1, 1],
  ]);
});

test("a child counts with all that hangs on it: one begun while another's own child runs is beside it", () => {
  const graph = graphOf(at("A", 0, 1), at("B", 1, 2, ["A"]), at("D", 2, 5, ["B"]), at("C", 4, 6, ["A"]), at("E", 7, 8, ["A"]));
  expect(inWords(graph)).toEqual(["A: B+C E", "B: D", "D: ", "C: ", "E: "]);
  expect([...graph.depth]).toEqual([0, 1, 2, 1, 3]);
});

test("what joins two children hangs on neither, so that children in turn stay in turn", () => {
  const graph = graphOf(at("A", 0, 1), at("B", 1.1, 2, ["A"]), at("C", 2.1, 3, ["A"]), at("J", 3.1, 4, ["B", "C"]));
  expect(inWords(graph)).toEqual(["A: B C", "B: J", "C: J", "J: "]);
  expect([...graph.remainingCalls]).toEqual([4, 3, 2, 1]);
});

test("a call of only some of those side by side comes after these and is counted so", () => {
  const graph = graphOf(at("A", 0, 1), at("B", 1, 2, ["A"]), at("C", 1, 9, ["A"]), at("J", 3, 4, ["B", "B2"]), at("K", 9, 10, ["C", "J"]));
  expect(graph.missingUpstream).toBe(1);
  expect([...graph.remainingCalls]).toEqual([4, 3, 2, 2, 1]);
  expect([...graph.depth]).toEqual([0, 1, 1, 2, 3]);
});

test("an agent named several times means as many of its calls, those first that had ended, and what is not there is missed", () => {
  const voters = [at("V", 0, 1), at("V", 0.1, 2), at("V", 0.2, 9), at("V", 0.3, 9)].map((call, index) => ({ ...call, id: `${index}` }));
  const parentsOf = (times: number) => graphOf(...voters, at("J", 3, 4, Array(times).fill("V"))).parents.at(-1);
  expect([1, 2, 3, 4].map(parentsOf)).toEqual([[0], [0, 1], [0, 1, 3], [0, 1, 2, 3]]);
  const five = graphOf(...voters, at("J", 3, 4, Array(5).fill("V")));
  expect([five.parents.at(-1), five.missingUpstream]).toEqual([[0, 1, 2, 3], 1]);
});

test("parallel branches of the same agents are told apart, whether each goes on at once or after a pause", () => {
  const named = (id: string, from: number, to: number, upstream: readonly string[] = []) => ({
    ...at(id.slice(0, 1), from, to, upstream),
    id,
  });
  for (const pause of [0, 3]) {
    const { calls, parents, steps } = graphOf(
      named("A", 0, 1),
      ...[named("W1", 1, 2, ["A"]), named("W2", 1, 3.5, ["A"])],
      ...[named("X1", 2 + pause, 7, ["W"]), named("Y1", 2.1 + pause, 8, ["W"])],
      ...[named("X2", 3.5 + pause, 9, ["W"]), named("Y2", 3.6 + pause, 9, ["W"])],
      ...[named("Z1", 10, 11, ["X"]), named("Z2", 10.5, 12, ["X"])],
    );
    const ids = (of: readonly number[]) => of.map((call) => calls[call]?.id);
    const edges = Object.fromEntries(calls.map(({ id }, call) => [id, ids(parents[call] ?? [])]));
    expect(edges).toEqual({
      ...{ A: [], W1: ["A"], W2: ["A"], X1: ["W1"], Y1: ["W1"], X2: ["W2"], Y2: ["W2"], Z1: ["X1"], Z2: ["X2"] },
    });
    expect(steps[0]?.map(ids)).toEqual([["W1", "W2"]]);
  }
});

test("an answer that was asked for again in turn is followed in its latest version, whoever followed the first", () => {
  const again = graphOf(at("W", 0, 1), at("W", 2, 3), at("X", 4, 5, ["W"]), at("X", 6, 7, ["W"]));
  expect(again.parents).toEqual([[], [0], [1], [1]]);
});

test("touching within the clock's resolution is a tie, counted, and in turn", () => {
  const touching = graphOf(at("A", 0, 1), at("B", 1, 2, ["A"]), at("C", 1.9995, 3, ["A"]));
  const overlapping = graphOf(at("A", 0, 1), at("B", 1, 2, ["A"]), at("C", 1.9985, 3, ["A"]));
  const apart = graphOf(at("A", 0, 1), at("B", 1, 2, ["A"]), at("C", 2.0015, 3, ["A"]));
  expect([touching, overlapping, apart].map((graph) => [inWords(graph)[0], graph.ties])).toEqual([
    ["A: B C", 1],
    ["A: B+C", 0],
    ["A: B C", 0],
  ]);
});

test("a name means its latest call that has ended, else its latest; no name the call that ended last; a name again the one before", () => {
  const graph = graphOf(
    at("A", 0, 1),
    at("A", 1.5, 9),
    at("first ended A", 2, 3, ["A"]),
    at("B", 4, 20),
    at("unended B", 5, 6, ["B"]),
    at("two As", 10, 11, ["A", "A"]),
    at("three As", 12, 13, ["A", "A", "A"]),
    at("latest", 14, 15),
  );
  const parents = new Map(graph.calls.map(({ agent }, call) => [agent, graph.parents[call]?.map((parent) => graph.calls[parent]?.id)]));
  expect(parents.get("first ended A")).toEqual(["A@0"]);
  expect(parents.get("unended B")).toEqual(["B@4"]);
  expect(parents.get("two As")).toEqual(["A@0", "A@1.5"]);
  expect(parents.get("three As")).toEqual(["A@0", "A@1.5"]);
  expect(parents.get("latest")).toEqual(["three As@12"]);
  expect(graph.missingUpstream).toBe(1);
});

test("whatever the times and names, chains are no shorter than the edges make them and no longer than time allows", () => {
  const anyCall = fc.record({
    agent: fc.constantFrom("a", "b", "c", "constructor", "__proto__"),
    arrivedSeconds: fc.integer({ min: 0, max: 12 }),
    length: fc.oneof({ weight: 20, arbitrary: fc.integer({ min: 1, max: 5 }) }, fc.constant(0)),
    upstream: fc.array(fc.constantFrom("a", "b", "c", "d", "__proto__"), { maxLength: 3 }),
  });
  fc.assert(
    fc.property(fc.array(anyCall, { maxLength: 14 }), fc.boolean(), fc.nat(), (drawn, named, seed) => {
      const calls = drawn.map(({ length, ...call }, index) =>
        testCall({ ...call, ...(named ? {} : { upstream: [] }), id: `${index}`, ...spanOf(call.arrivedSeconds + index / 100, length) }),
      );
      const graph = graphOf(...calls);
      for (const [child, own] of graph.parents.entries()) {
        for (const parent of own) {
          expect(parent).toBeLessThan(child);
          expect(graph.depth[child]).toBeGreaterThan(graph.depth[parent] ?? 0);
          expect(graph.remainingCalls[parent]).toBeGreaterThan(graph.remainingCalls[child] ?? 0);
          expect(graph.steps[parent]?.flat()).toContain(child);
        }
      }
      const children = graph.parents.reduce((sum, own) => sum + own.length, 0);
      expect(graph.steps.flat(2)).toHaveLength(children);
      const { calls: came, remainingCalls } = graph;
      if (!named && drawn.every(({ length }) => length > 0))
        for (const call of came.keys()) expect(remainingCalls[call]).toBeLessThanOrEqual(longestInTime(came, call));
      const again = graphOf(...[...shuffled(calls.length, seededRandom(seed))].flatMap((index) => calls[index] ?? []));
      expect({ ...again, calls: 0 }).toEqual({ ...graph, calls: 0 });
    }),
  );
});

const spanOf = (arrivedSeconds: number, length: number) => ({ arrivedSeconds, finishedSeconds: arrivedSeconds + length });

/** Longest sequence of calls, each arriving after the end of the previous, from a call on. */
function longestInTime(calls: readonly ObservedCall[], from: number): number {
  let count = 0;
  let freeSeconds = calls[from]?.arrivedSeconds ?? 0;
  const later = calls.slice(from).toSorted((a, b) => a.finishedSeconds - b.finishedSeconds);
  const first = calls[from];
  for (const call of first === undefined ? [] : [first, ...later.filter((other) => other !== first)]) {
    if (call.arrivedSeconds < freeSeconds - TEST_RESOLUTION_SECONDS) continue;
    count += 1;
    freeSeconds = call.finishedSeconds;
  }
  return count;
}

test("thousands of calls in a row, or side by side and joined, take no more than linear work", () => {
  const names = Array.from({ length: 20_000 }, (_, index) => `agent-${index}`);
  const row = graphOf(...names.map((agent, index) => at(agent, index, index + 0.5, index === 0 ? [] : [`agent-${index - 1}`])));
  expect(row.remainingCalls[0]).toBe(20_000);
  const beside = graphOf(at("A", 0, 1), ...names.map((agent) => at(agent, 1, 2, ["A"])), at("J", 3, 4, names));
  expect([beside.remainingCalls[0], beside.parents.at(-1)?.length]).toEqual([3, 20_000]);
});
