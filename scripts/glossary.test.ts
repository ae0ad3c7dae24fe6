import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";

interface Glossary {
  /** The files that accept old names for one release, and this list itself. */
  readonly exempt: readonly string[];
  /** Old word -> the word in its place; the kinds say how an old word is found. */
  readonly names: Readonly<Record<string, string>>;
  readonly exports: Readonly<Record<string, string>>;
  readonly methods: Readonly<Record<string, string>>;
  readonly procedures: Readonly<Record<string, string>>;
  readonly texts: Readonly<Record<string, string>>;
  /** File -> old words that mean something else there. */
  readonly ordinary: Readonly<Record<string, readonly string[]>>;
  /** How often an old word may still be found. A figure here only falls. */
  readonly left: Readonly<Record<string, number>>;
}
const { oldWords } = (await import("./glossary.mjs" as string)) as {
  oldWords: (text: string, glossary: Partial<Glossary>) => Record<string, number>;
};
const { isTestCode } = (await import("./importGraph.mjs" as string)) as { isTestCode: (file: string) => boolean };

const root = fileURLToPath(new URL("..", import.meta.url));
const glossary = JSON.parse(readFileSync(join(root, "scripts", "glossary.json"), "utf8")) as Glossary;
const folders = ["app", "bench", "components", "public", "scripts", "server", "solver"];

/** Sources, READMEs and what is served from `public/`, without test code, recordings and what was generated. */
const files = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
    .map((path) => join(folder, path))
    .filter((path) => /\.(ts|tsx|mjs|md|json|py)$/.test(path) && !isTestCode(path) && !/\/(results|migrations|recorded)\//.test(path))
    .filter((path) => !glossary.exempt.includes(path) && !path.startsWith("scripts/glossary.")),
);

it("no old word is left in code, READMEs, procedures, metrics, headers and on the screen", () => {
  const counts: Record<string, number> = {};
  const places: Record<string, string[]> = {};
  for (const file of files) {
    for (const [word, count] of Object.entries(oldWords(readFileSync(join(root, file), "utf8"), glossary))) {
      if (glossary.ordinary[file]?.includes(word)) continue;
      counts[word] = (counts[word] ?? 0) + count;
      places[word] = [...(places[word] ?? []), file];
    }
  }
  const news = { ...glossary.names, ...glossary.exports, ...glossary.methods, ...glossary.procedures, ...glossary.texts };
  const tooOften = Object.entries(counts)
    .filter(([word, count]) => count > (glossary.left[word] ?? 0))
    .map(([word, count]) => `${word}: ${count} times, now "${news[word]}": ${places[word]?.join(", ")}`);
  expect(tooOften).toEqual([]);
});

it("sees a whole tree", () => {
  expect(files.length).toBeGreaterThan(1500);
  expect(files).toContain("server/api/router.ts");
});

const none = { names: {}, exports: {}, methods: {}, procedures: {}, texts: {} };

it("finds an odd word as a name and as a part of one, and not inside another word", () => {
  const text = "const keptView = theKeptView(new KeptViewer()); // a kept view, unkeptView";
  expect(oldWords(text, { ...none, names: { keptView: "cachedView" } })).toEqual({ keptView: 2 });
});

it("finds an ordinary word as an exported name alone", () => {
  const text = "export interface Place {}\nexport interface Placement {}\nconst Place = 1; // Place";
  expect(oldWords(text, { ...none, exports: { Place: "Upstream" } })).toEqual({ Place: 1 });
});

it("finds a method, a procedure and a header by their whole names", () => {
  const text = "book.come(call);\noutcome();\n  dip: procedure.query(f),\n  dips: procedure.query(f),\nx-weir-start x-weir-started-at";
  const old = { ...none, methods: { come: "start" }, procedures: { dip: "capacityDip" }, texts: { "x-weir-start": "x-weir-started-at" } };
  expect(oldWords(text, old)).toEqual({ come: 1, dip: 1, "x-weir-start": 1 });
});
