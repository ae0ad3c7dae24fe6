import { expect, test } from "vitest";
import { testCall } from "../testing/testCall";
import { ApplicationGraph } from "./applicationGraph";
import { callGraph } from "./callGraph";
import { learnerBounds } from "./learnerBounds";
import type { ObservedCall } from "./observedCall";

const graphOf = (...programs: readonly (readonly ObservedCall[])[]): ApplicationGraph => {
  const graph = new ApplicationGraph("app", learnerBounds, { nowSeconds: 0 });
  for (const calls of programs) graph.learn(callGraph(calls, learnerBounds.resolutionSeconds), 1);
  return graph;
};

/** A program whose calls are sequential, one letter per agent. */
const row = (agents: string): readonly ObservedCall[] =>
  [...agents].map((agent, at) =>
    testCall({ agent, arrivedSeconds: at, finishedSeconds: at + 0.9, upstream: at === 0 ? [] : [agents[at - 1] ?? ""] }),
  );

const edgesOf = (graph: ApplicationGraph, pick: (edge: ReturnType<ApplicationGraph["view"]>["edges"][number]) => unknown) =>
  Object.fromEntries(graph.view().edges.map((edge) => [`${edge.from}>${edge.to}`.replaceAll("app/", ""), pick(edge)]));

test("only what leads back is a loop, however often it is gone round and however loops are nested", () => {
  expect(edgesOf(graphOf(row("ABCBCBD")), ({ loop }) => loop)).toEqual({ "A>B": false, "B>C": false, "C>B": true, "B>D": false });
  expect(edgesOf(graphOf(row("ABCDCDBCDE")), ({ loop }) => loop)).toEqual({
    ...{ "A>B": false, "B>C": false, "C>D": false, "D>C": true, "D>B": true, "D>E": false },
  });
  expect(edgesOf(graphOf(row("AAA")), ({ loop, calls, programs }) => [loop, calls, programs])).toEqual({ "A>A": [true, 2, 1] });
});

test("an agent that another branch has called already is led to, not back to", () => {
  const branches = graphOf([
    testCall({ agent: "A", arrivedSeconds: 0, finishedSeconds: 1 }),
    testCall({ agent: "B", arrivedSeconds: 1, finishedSeconds: 2, upstream: ["A"] }),
    testCall({ agent: "D", arrivedSeconds: 2, finishedSeconds: 3, upstream: ["B"] }),
    testCall({ agent: "C", arrivedSeconds: 1, finishedSeconds: 4, upstream: ["A"] }),
    testCall({ agent: "E", arrivedSeconds: 4, finishedSeconds: 5, upstream: ["C"] }),
    testCall({ agent: "D", arrivedSeconds: 5, finishedSeconds: 6, upstream: ["E"] }),
  ]);
  expect(edgesOf(branches, ({ loop }) => loop)).toEqual({ "A>B": false, "A>C": false, "B>D": false, "C>E": false, "E>D": false });
});

test("an edge that leads back in some programs is a loop where it mostly does", () => {
  const once = row("ABA");
  const forward = row("BA");
  expect(edgesOf(graphOf(once, once, forward), ({ loop }) => loop)["B>A"]).toBe(true);
  expect(edgesOf(graphOf(once, forward, forward), ({ loop }) => loop)["B>A"]).toBe(false);
});

test("branches and joins are counted by calls and by programs", () => {
  const branch = (agent: string, upstream: readonly string[], [arrivedSeconds, finishedSeconds]: readonly [number, number]) =>
    testCall({ agent, upstream, arrivedSeconds, finishedSeconds });
  const joined = [branch("A", [], [0, 1]), branch("B", ["A"], [1, 3]), branch("C", ["A"], [1, 2]), branch("J", ["B", "C"], [3, 4])];
  const graph = graphOf(joined, joined, row("AB"));
  expect(edgesOf(graph, ({ calls, programs, parallel, joins }) => [calls, programs, parallel, joins])).toEqual({
    "A>B": [3, 3, 2, 0],
    "A>C": [2, 2, 2, 0],
    "B>J": [2, 2, 0, 2],
    "C>J": [2, 2, 0, 2],
  });
  expect(graph.view().nodes.map(({ name, begins, ends, depth }) => [name, begins, ends, depth])).toEqual(
    expect.arrayContaining([
      ["A", 3, 0, 0],
      ["B", 0, 1, 1],
      ["C", 0, 0, 1],
      ["J", 0, 2, 2],
    ]),
  );
});

test("names that would read alike one after the other are different edges", () => {
  const named = (...agents: readonly string[]) =>
    agents.map((agent, at) =>
      testCall({ agent, arrivedSeconds: at, finishedSeconds: at + 0.9, upstream: agents.slice(Math.max(0, at - 1), at) }),
    );
  expect(Object.keys(edgesOf(graphOf(named("ab", "c"), named("a", "bc")), () => 1))).toEqual(["ab>c", "a>bc"]);
});

test("with more agents than it may hold those seen longest ago go, and their edges with them", () => {
  const graph = new ApplicationGraph("app", { ...learnerBounds, agents: 3, edges: 2 }, { nowSeconds: 0 });
  graph.learn(callGraph(row("ABCD"), 0.001), 1);
  graph.learn(callGraph(row("DE"), 0.001), 1);
  expect(graph.view().nodes.map(({ name }) => name)).toEqual(["C", "D", "E"]);
  expect(Object.keys(edgesOf(graph, () => 1))).toEqual(["C>D", "D>E"]);
  expect(graph.forgotten).toBe(2);
});
