import { describe, expect, it } from "vitest";

interface Figures {
  readonly topFolders: (files: readonly string[], linesOf: (file: string) => number) => unknown;
  readonly folderSizes: (files: readonly string[]) => Map<string, number>;
  readonly folderCircles: (graph: Graph) => readonly { members: readonly string[]; ties: readonly string[] }[];
  readonly importedFromOutside: (graph: Graph) => Map<string, Set<string>>;
  readonly importsPastEntries: (graph: Graph, entries: Record<string, readonly string[]>) => Map<string, readonly string[]>;
  readonly ratchet: (
    figures: Record<string, number>,
    limitOf: (name: string) => number,
    debts: Record<string, number>,
  ) => { worse: readonly string[]; left: Record<string, number> };
}
interface Graphs {
  readonly importGraph: (files: readonly string[], read: (file: string) => string) => Graph;
  readonly circlesOf: (graph: Graph) => readonly (readonly string[])[];
}
type Graph = Map<string, Set<string>>;

const figures = (await import("./houseFigures.mjs" as string)) as Figures;
const { importGraph, circlesOf } = (await import("./importGraph.mjs" as string)) as Graphs;

/** The import graph of files given by their texts. */
const graphOf = (texts: Readonly<Record<string, string>>) => importGraph(Object.keys(texts), (file) => texts[file] ?? "");

describe("the import graph", () => {
  it("follows relative paths, aliases, type-only, dynamic and re-exporting imports, and leaves packages out", () => {
    const graph = graphOf({
      "a/one.ts": 'import { two } from "./two";\nimport type { T } from "@/b/three";\nimport zod from "zod";',
      "a/two.ts": 'export * from "../b/four";\nconst x = await import("./one");',
      "b/three.ts": 'type Four = import("./four").Four;',
      "b/four.tsx": "",
    });
    expect(Object.fromEntries([...graph].map(([file, targets]) => [file, [...targets]]))).toEqual({
      "a/one.ts": ["a/two.ts", "b/three.ts"],
      "a/two.ts": ["b/four.tsx", "a/one.ts"],
      "b/three.ts": ["b/four.tsx"],
      "b/four.tsx": [],
    });
  });

  it("finds a circle of three files that only share types, and none where there is none", () => {
    const circle = graphOf({
      "a.ts": 'import type { B } from "./b";',
      "b.ts": 'import type { C } from "./c";',
      "c.ts": 'import "./a";',
      "d.ts": 'import "./a";',
    });
    expect(circlesOf(circle)).toEqual([["a.ts", "b.ts", "c.ts"]]);
    expect(circlesOf(graphOf({ "a.ts": 'import "./b";', "b.ts": "" }))).toEqual([]);
  });
});

describe("folder circles", () => {
  it("names the folders and an import for each edge, although no files form a circle", () => {
    const graph = graphOf({
      "x/one.ts": 'import "../y/two";',
      "y/two.ts": "",
      "y/three.ts": 'import "../x/four";',
      "x/four.ts": "",
      "z/five.ts": 'import "../x/one";',
    });
    expect(figures.folderCircles(graph)).toEqual([{ members: ["x", "y"], ties: ["x/one.ts -> y/two.ts", "y/three.ts -> x/four.ts"] }]);
  });

  it("are found between rooms whose own folders form none", () => {
    const graph = graphOf({
      "s/x/a/one.ts": 'import "../../y/two";',
      "s/y/two.ts": "",
      "s/y/b/three.ts": 'import "../../x/four";',
      "s/x/four.ts": "",
    });
    expect(figures.folderCircles(graph)).toEqual([
      { members: ["s/x", "s/y"], ties: ["s/x/a/one.ts -> s/y/two.ts", "s/y/b/three.ts -> s/x/four.ts"] },
    ]);
  });

  it("does not count what only test code imports", () => {
    const graph = graphOf({ "x/one.ts": 'import "../y/two";', "y/two.ts": "", "y/two.test.ts": 'import "../x/one";' });
    expect(figures.folderCircles(graph)).toEqual([]);
  });
});

describe("sizes", () => {
  it("counts product and test code of each top-level folder apart", () => {
    const files = ["a/b/one.ts", "a/one.test.ts", "a/testWorld.ts", "root.ts"];
    expect(figures.topFolders(files, () => 10)).toEqual([
      { name: ".", product: { files: 1, lines: 10 }, test: { files: 0, lines: 0 } },
      { name: "a", product: { files: 1, lines: 10 }, test: { files: 2, lines: 20 } },
    ]);
  });

  it("counts a folder's own product sources, not those of folders in it", () => {
    const files = ["a/one.ts", "a/two.ts", "a/two.test.ts", "a/b/three.ts"];
    expect([...figures.folderSizes(files)]).toEqual([
      ["a", 2],
      ["a/b", 1],
    ]);
  });
});

describe("imports past a room's entries", () => {
  const graph = graphOf({
    "room/entry.ts": 'import "./inner";',
    "room/inner.ts": "",
    "hall/good.ts": 'import "../room/entry";',
    "hall/bad.ts": 'import "../room/inner";',
    "hall/bad.test.ts": 'import "../room/inner";',
  });

  it("are those of product code outside the room", () => {
    expect([...figures.importsPastEntries(graph, { room: ["entry"] })]).toEqual([["room", ["hall/bad.ts -> room/inner.ts"]]]);
  });

  it("are found for every room, whatever its entries are", () => {
    expect(figures.importedFromOutside(graph)).toEqual(new Map([["room", new Set(["entry", "inner"])]]));
  });

  it("are none where a folder inside the room has entries, which decide", () => {
    const nested = graphOf({ "hall/good.ts": 'import "../room/side/door";', "room/side/door.ts": "", "room/entry.ts": "" });
    expect([...figures.importsPastEntries(nested, { room: ["entry"], "room/side": ["door"] })].flatMap(([, past]) => past)).toEqual([]);
  });

  it("are none where the file is an entry", () => {
    expect([...figures.importsPastEntries(graph, { room: ["entry", "inner"] })]).toEqual([["room", []]]);
  });
});

describe("the ratchet", () => {
  const limitOf = () => 40;

  it("refuses a figure over its limit that no debt names", () => {
    expect(figures.ratchet({ a: 41, b: 40 }, limitOf, {})).toEqual({ worse: ["a: 41, at most 40"], left: {} });
  });

  it("accepts a debt that does not grow and lowers it to the figure of today", () => {
    expect(figures.ratchet({ a: 60 }, limitOf, { a: 70 })).toEqual({ worse: [], left: { a: 60 } });
  });

  it("refuses a debt that grows", () => {
    expect(figures.ratchet({ a: 71 }, limitOf, { a: 70 })).toEqual({ worse: ["a: 71, at most 70"], left: { a: 70 } });
  });

  it("drops a debt that is paid or whose folder is gone", () => {
    expect(figures.ratchet({ a: 40 }, limitOf, { a: 70, gone: 50 })).toEqual({ worse: [], left: {} });
  });
});
