import fc from "fast-check";
import { expect, it } from "vitest";
import type { ApplicationView } from "@/solver/workflow/learning/workflowsView";
import { identifyAgents } from "../graph/agentIdentity";
import { NODE_HEIGHT, NODE_WIDTH } from "../graph/drawEdges";
import { layOutGraph } from "../graph/layOutGraph";
import { testApplication, testEdge, testNode } from "../testing/testWorkflows";
import { MOST_AGENTS, MOST_LABELS, prepareCallGraph } from "./prepareCallGraph";

const draw = (application: ApplicationView, all = false) =>
  prepareCallGraph(application, { all, identities: identifyAgents(application.nodes.map(({ key }) => key)) });

const anyGraph = fc
  .record({ size: fc.integer({ min: 1, max: 14 }), pairs: fc.array(fc.tuple(fc.nat(), fc.nat()), { maxLength: 30 }) })
  .chain(({ size, pairs }) =>
    fc.array(fc.double({ min: 0, max: 5, noNaN: true }), { minLength: size, maxLength: size }).map((depths) => ({
      nodes: depths.map((depth, at) => ({ key: `n${at}`, depth })),
      edges: [...new Map(pairs.map(([a, b]) => [`${a % size}>${b % size}`, { from: `n${a % size}`, to: `n${b % size}` }])).values()],
    })),
  );

it("lays every graph out so that no nodes overlap, all is inside, and every edge ends at its nodes", () => {
  fc.assert(
    fc.property(anyGraph, (graph) => {
      const layout = layOutGraph(graph);
      expect(layout.nodes.map(({ key }) => key).sort()).toEqual(graph.nodes.map(({ key }) => key).sort());
      for (const [at, a] of layout.nodes.entries()) {
        expect(a.x).toBeGreaterThanOrEqual(0);
        expect(a.y).toBeGreaterThanOrEqual(-1e-6);
        expect(a.x + NODE_WIDTH).toBeLessThanOrEqual(layout.width);
        expect(a.y + NODE_HEIGHT).toBeLessThanOrEqual(layout.height + 1e-6);
        for (const b of layout.nodes.slice(at + 1))
          expect(Math.abs(a.x - b.x) >= NODE_WIDTH || Math.abs(a.y - b.y) >= NODE_HEIGHT - 1e-6).toBe(true);
      }
      expect(layout.edges).toHaveLength(graph.edges.length);
      const placeOf = (key: string) => layout.nodes.find((node) => node.key === key) ?? { x: Number.NaN, y: Number.NaN };
      for (const [at, { path, arrow, isBack, labelX, labelY }] of layout.edges.entries()) {
        const edge = graph.edges[at];
        const [from, to] = [placeOf(edge?.from ?? ""), placeOf(edge?.to ?? "")];
        const numbers = (path.match(/-?\d+(?:\.\d+)?/g) ?? []).map(Number);
        expect(numbers[0]).toBeCloseTo(from.x + NODE_WIDTH, 6);
        expect(Math.abs((numbers[1] ?? 0) - (from.y + NODE_HEIGHT / 2))).toBeLessThanOrEqual(NODE_HEIGHT / 2);
        const [, tipX, tipY] = /L(-?[\d.]+) (-?[\d.]+)/.exec(arrow) ?? [];
        expect(Number(tipX)).toBeCloseTo(to.x, 6);
        expect(Math.abs(Number(tipY) - (to.y + NODE_HEIGHT / 2))).toBeLessThanOrEqual(NODE_HEIGHT / 2);
        expect(isBack).toBe(from.x >= to.x);
        expect(labelX >= 0 && labelX <= layout.width && labelY >= 0 && labelY <= layout.height).toBe(true);
      }
    }),
  );
});

it("refuses an edge to nowhere", () => {
  expect(() => layOutGraph({ nodes: [{ key: "a", depth: 0 }], edges: [{ from: "a", to: "b" }] })).toThrow("has an end that is no node");
});

it("draws a loop back below the chain that it repeats, and says so in sign and word", () => {
  const { agents, edges, rows } = draw(
    testApplication({
      programs: 10,
      nodes: [testNode("app/coder", { depth: 0, calls: 14 }), testNode("app/qa", { depth: 1, calls: 14 })],
      edges: [testEdge("app/coder", "app/qa", { calls: 14 }), testEdge("app/qa", "app/coder", { calls: 4, loop: true })],
    }),
  );
  expect(agents.map(({ name }) => name)).toEqual(["coder", "qa"]);
  const [there, back] = edges;
  expect([there?.isBack, back?.isBack]).toEqual([false, true]);
  expect(back?.label).toBe("0.40 ↺");
  expect(back?.says).toContain("loops back to an earlier agent");
  expect(back?.labelY).toBeGreaterThan(Math.max(...agents.map(({ y }) => y + NODE_HEIGHT)));
  expect((there?.width ?? 0) > (back?.width ?? 0)).toBe(true);
  expect(rows.map(({ from, to, perProgram }) => [from, to, perProgram])).toEqual([
    ["coder", "qa", "1.40"],
    ["qa", "coder", "0.40"],
  ]);
});

it("tells calls that are side by side, and those that join, from those that are alone", () => {
  const { edges, rows } = draw(
    testApplication({
      programs: 10,
      nodes: ["plan", "one", "two", "sum"].map((name, depth) =>
        testNode(`app/${name}`, { depth: Math.min(depth, 1) + (depth === 3 ? 1 : 0) }),
      ),
      edges: [
        testEdge("app/plan", "app/one", { parallel: 10 }),
        testEdge("app/plan", "app/two", { parallel: 6 }),
        testEdge("app/one", "app/sum", { joins: 10 }),
        testEdge("app/two", "app/sum", { joins: 4 }),
      ],
    }),
  );
  expect(edges.map(({ label }) => label)).toEqual(["1.00 ∥", "1.00 ∥", "1.00 ⋈", "1.00"]);
  expect(rows.map(({ how }) => how)).toEqual([
    "side by side with others",
    "side by side with others (60\u00a0%)",
    "reads other answers too",
    "reads other answers too (40\u00a0%)",
  ]);
});

it("counts shares by programs and not by calls, of which a loop makes more", () => {
  const { agents, rows } = draw(
    testApplication({
      programs: 10,
      nodes: [testNode("app/a", { calls: 23, begins: 3, ends: 8 }), testNode("app/b", { programs: 7, calls: 14, depth: 1 })],
      edges: [testEdge("app/a", "app/b", { calls: 14, programs: 7 })],
    }),
  );
  expect(agents.map(({ figures }) => figures.split(" · ")[1])).toEqual(["100\u00a0%", "70\u00a0%"]);
  expect(agents[0]?.says).toContain("2.30 calls in each of those, starts 30\u00a0% of them, ends 80\u00a0% of them");
  expect(rows[0]).toMatchObject({ perProgram: "1.40", programs: "70\u00a0%" });
});

it("takes crossings out, and lets a long edge fall evenly", () => {
  const nodesOf = (depths: readonly string[]) => depths.flatMap((keys, depth) => [...keys].map((key) => ({ key, depth })));
  const crossed = layOutGraph({
    nodes: nodesOf(["ab", "cd"]),
    edges: [
      { from: "a", to: "d" },
      { from: "b", to: "c" },
    ],
  });
  const yOf = (layout: ReturnType<typeof layOutGraph>, key: string) => layout.nodes.find((node) => node.key === key)?.y ?? Number.NaN;
  expect((yOf(crossed, "a") - yOf(crossed, "b")) * (yOf(crossed, "d") - yOf(crossed, "c"))).toBeGreaterThan(0);
  const pairs = ["ab", "bc", "cd", "ce", "cf", "cg", "ci", "ch", "ah"].map(([from = "", to = ""]) => ({ from, to }));
  const long = layOutGraph({ nodes: nodesOf(["a", "b", "c", "defghi"]), edges: pairs });
  const heights = [...(long.edges.at(-1)?.path ?? "").matchAll(/L[\d.]+ (-?[\d.]+)/g)].map(([, y]) => Number(y));
  expect(heights).toHaveLength(2);
  const [start, end] = [yOf(long, "a"), yOf(long, "h")].map((y) => y + NODE_HEIGHT / 2);
  const falls = [start, ...heights, end].map((y, at, all) => (y ?? 0) - (all[at - 1] ?? y ?? 0)).slice(1);
  const total = (end ?? 0) - (start ?? 0);
  expect(Math.abs(total)).toBeGreaterThan(NODE_HEIGHT);
  for (const fall of falls) expect(fall / total).toBeGreaterThan(0.2);
});

it("draws edges that lead back over the same columns apart, and lets them leave below those that go on", () => {
  const nodes = ["a", "b", "c"].map((key, depth) => ({ key, depth }));
  const pairs = ["ab", "bc", "ca", "ba", "cb"].map(([from = "", to = ""]) => ({ from, to }));
  const { edges } = layOutGraph({ nodes, edges: pairs });
  const back = edges.filter(({ isBack }) => isBack);
  expect(new Set(back.map(({ labelY }) => labelY)).size).toBe(3);
  const startOf = (at: number) => Number(/^M[\d.]+ (-?[\d.]+)/.exec(edges[at]?.path ?? "")?.[1]);
  expect(startOf(3)).toBeGreaterThan(startOf(1));
});

it("folds rare agents into one with a count, keeps every call between the others and them, and unfolds on demand", () => {
  const nodes = Array.from({ length: 64 }, (_, at) => testNode(`app/a${at}`, { depth: at / 4, calls: 1000 - at }));
  const edges = nodes.slice(1).map((node, at) => testEdge(nodes[at]?.key ?? "", node.key, { calls: 1000 - at }));
  const application = testApplication({ programs: 1000, nodes, edges });
  const folded = draw(application);
  expect(folded.agents).toHaveLength(MOST_AGENTS);
  expect(folded.folded).toBe(64 - MOST_AGENTS + 1);
  expect(folded.agents.find(({ identity }) => identity === null)?.name).toBe("41 rarer agents");
  // All except edges among the rare agents, which are only counted.
  expect(folded.edges).toHaveLength(MOST_AGENTS - 1);
  expect(folded.foldedCalls).toBe(edges.slice(MOST_AGENTS - 1).reduce((sum, { calls }) => sum + calls, 0));
  expect(folded.rows).toHaveLength(63);
  expect(draw(application, true).agents).toHaveLength(64);
  const toRare = [testEdge("app/a0", "app/a62", { calls: 300 }), testEdge("app/a0", "app/a63", { calls: 200, joins: 200, loop: true })];
  const [merged] = draw(testApplication({ programs: 1000, nodes, edges: toRare })).edges;
  expect(merged?.label).toBe("0.50 ↺");
});

it("writes no word over another, and only so many although more edges are taken as often", () => {
  const nodes = Array.from({ length: 41 }, (_, at) => testNode(`app/a${at}`, { depth: at === 0 ? 0 : 1 }));
  const edges = nodes.slice(1).flatMap(({ key }) => [testEdge("app/a0", key, { calls: 2 }), testEdge(key, "app/a0", { calls: 1 })]);
  const words = draw(testApplication({ nodes, edges }), true).edges.filter(({ label }) => label !== "");
  expect(words.length).toBeGreaterThan(5);
  expect(words.length).toBeLessThanOrEqual(MOST_LABELS);
  for (const [at, a] of words.entries())
    for (const b of words.slice(at + 1)) expect(Math.abs(a.labelX - b.labelX) >= 24 || Math.abs(a.labelY - b.labelY) >= 16).toBe(true);
  const square = ["a", "b", "c", "d"].map((name, at) => testNode(`app/${name}`, { depth: Math.floor(at / 2) }));
  const all = ["ac", "ad", "bc", "bd"].map(([from, to]) => testEdge(`app/${from}`, `app/${to}`));
  expect(draw(testApplication({ nodes: square, edges: all })).edges.filter(({ label }) => label !== "")).toHaveLength(3);
  const apart = Array.from({ length: 60 }, (_, at) => [testNode(`app/f${at}`), testNode(`app/t${at}`, { depth: 1 })]);
  const many = testApplication({ nodes: apart.flat(), edges: apart.map(([from, to]) => testEdge(from?.key ?? "", to?.key ?? "")) });
  expect(draw(many, true).edges.filter(({ label }) => label !== "")).toHaveLength(MOST_LABELS);
});

it("leaves out an edge whose agent was forgotten, and names agents that nobody named", () => {
  const picture = draw(
    testApplication({ nodes: [testNode("app/", { name: "" })], edges: [testEdge("app/", "app/gone"), testEdge("app/", "app/")] }),
  );
  expect(picture.agents.map(({ name }) => name)).toEqual(["unnamed"]);
  expect(picture.edges.map(({ to }) => to)).toEqual(["app/"]);
});
