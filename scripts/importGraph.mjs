// The import graph of this repository, read from its own import and export statements. Used by `npm run house` and by the check
// for cycles in `npm test`.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(fileURLToPath(import.meta.url)));
const extensions = ["", ".ts", ".tsx", ".mjs", ".js", "/index.ts"];
const specifierPattern = /(?:\bfrom\s*|\bimport\s*\(?\s*|\bvi\.\w+\(\s*)(["'])([^"'\n]+)\1/g;

/** @returns {string[]} every source file that git knows, as a path relative to the root. */
export function sourceFiles() {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard"], { cwd: root, encoding: "utf8" });
  return listed.split("\n").filter((file) => /\.(ts|tsx|mjs)$/.test(file) && existsSync(join(root, file)));
}

/** @returns {boolean} whether a file is test code: a test, a `test…` helper, a `…Contract` suite, or under `testing/` or `e2e/`. */
export function isTestCode(file) {
  return /\.test\.tsx?$|(^|\/)test[A-Z][^/]*$|(^|\/)testing\/|^e2e\/|Contract\.ts$/.test(file);
}

/**
 * Finds the file that an import names.
 * @returns {string | undefined} a path relative to the root; undefined for packages and files that do not exist.
 */
export function resolveImport(specifier, from, known) {
  const base = specifier.startsWith("@/")
    ? specifier.slice(2)
    : specifier.startsWith(".")
      ? relative(root, join(root, dirname(from), specifier))
      : undefined;
  if (base === undefined) return undefined;
  return extensions.map((extension) => base + extension).find((path) => known.has(path));
}

/** @returns {{ specifier: string, start: number }[]} the import specifiers of a source text, with the offset of each. */
export function specifiersOf(text) {
  return [...text.matchAll(specifierPattern)].map((match) => ({
    specifier: match[2],
    start: match.index + match[0].length - match[2].length - 1,
  }));
}

/**
 * @param {(file: string) => string} read gives the text of a file.
 * @returns {Map<string, Set<string>>} file -> the files of this repository that it imports, types included.
 */
export function importGraph(files = sourceFiles(), read = (file) => readFileSync(join(root, file), "utf8")) {
  const known = new Set(files);
  return new Map(
    files.map((file) => {
      const targets = specifiersOf(read(file))
        .map(({ specifier }) => resolveImport(specifier, file, known))
        .filter((target) => target !== undefined && target !== file);
      return [file, new Set(targets)];
    }),
  );
}

/** @returns {string[][]} the strongly connected components with more than one member (Tarjan), each sorted. */
export function circlesOf(graph) {
  const index = new Map();
  const low = new Map();
  const stack = [];
  const onStack = new Set();
  const circles = [];
  for (const start of graph.keys()) {
    if (index.has(start)) continue;
    const work = [{ node: start, targets: undefined }];
    while (work.length > 0) {
      const frame = work[work.length - 1];
      if (frame.targets === undefined) {
        index.set(frame.node, index.size);
        low.set(frame.node, index.get(frame.node));
        stack.push(frame.node);
        onStack.add(frame.node);
        frame.targets = [...(graph.get(frame.node) ?? [])];
      }
      const next = frame.targets.pop();
      if (next !== undefined) {
        if (!index.has(next)) work.push({ node: next, targets: undefined });
        else if (onStack.has(next)) low.set(frame.node, Math.min(low.get(frame.node), index.get(next)));
        continue;
      }
      work.pop();
      const parent = work[work.length - 1];
      if (parent) low.set(parent.node, Math.min(low.get(parent.node), low.get(frame.node)));
      if (low.get(frame.node) !== index.get(frame.node)) continue;
      const members = [];
      for (let member; member !== frame.node; ) {
        member = stack.pop();
        onStack.delete(member);
        members.push(member);
      }
      if (members.length > 1) circles.push(members.sort());
    }
  }
  return circles;
}

/** @returns {string} the folder of a file, cut to so many levels. */
export const folderOf = (file, levels = Number.POSITIVE_INFINITY) => dirname(file).split("/").slice(0, levels).join("/");

/**
 * Draws the graph of folders: an edge from A to B where a product file of A imports one of B.
 * A folder that holds rooms counts with its own files alone where `levels` does not cut them off.
 * @param {number} levels folders deeper than this count as part of the one at this level.
 * @returns {{ graph: Map<string, Set<string>>, ties: Map<string, string[]> }} ties: "A -> B" -> the imports that make the edge.
 */
export function folderGraph(files, levels) {
  const graph = new Map();
  const ties = new Map();
  for (const [file, targets] of files) {
    if (isTestCode(file)) continue;
    const from = folderOf(file, levels);
    if (!graph.has(from)) graph.set(from, new Set());
    for (const target of targets) {
      const to = folderOf(target, levels);
      if (isTestCode(target) || to === from) continue;
      graph.get(from).add(to);
      const edge = `${from} -> ${to}`;
      ties.set(edge, [...(ties.get(edge) ?? []), `${file} -> ${target}`]);
    }
  }
  return { graph, ties };
}
