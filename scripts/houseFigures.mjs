// The figures of `npm run house`: sizes, circles and imports past a room's door, each a function of the file list and the import graph.
import { circlesOf, folderGraph, folderOf, isTestCode } from "./importGraph.mjs";

/** @returns {{ name: string, product: { files: number, lines: number }, test: { files: number, lines: number } }[]} per top-level folder. */
export function topFolders(files, linesOf) {
  const rows = new Map();
  for (const file of files) {
    const name = file.includes("/") ? file.slice(0, file.indexOf("/")) : ".";
    const row = rows.get(name) ?? { name, product: { files: 0, lines: 0 }, test: { files: 0, lines: 0 } };
    const side = isTestCode(file) ? row.test : row.product;
    side.files += 1;
    side.lines += linesOf(file);
    rows.set(name, row);
  }
  return [...rows.values()].sort((a, b) => a.name.localeCompare(b.name));
}

/** @returns {Map<string, number>} folder -> its own product sources, largest first; sources of folders inside it count there. */
export function folderSizes(files) {
  const sizes = new Map();
  for (const file of files) if (!isTestCode(file)) sizes.set(folderOf(file), (sizes.get(folderOf(file)) ?? 0) + 1);
  return new Map([...sizes].sort(([a, n], [b, m]) => m - n || a.localeCompare(b)));
}

/** @returns {{ members: string[], ties: string[] }[]} circles of folders, with one import for each edge of the circle. */
export function folderCircles(graph) {
  const folders = folderGraph(graph);
  return circlesOf(folders.graph).map((members) => {
    const inside = new Set(members);
    const ties = members.flatMap((from) =>
      [...folders.graph.get(from)].filter((to) => inside.has(to)).map((to) => folders.ties.get(`${from} -> ${to}`)[0]),
    );
    return { members, ties };
  });
}

/**
 * Finds imports of a room's inner files from outside it. Test code may import any file.
 * @param {Record<string, string[]>} doors room -> names of its entry files, without extension.
 * @returns {Map<string, string[]>} room -> "importer -> inner file".
 */
export function importsPastDoors(graph, doors) {
  const past = new Map(Object.keys(doors).map((room) => [room, []]));
  for (const [file, targets] of graph) {
    if (isTestCode(file)) continue;
    for (const target of targets) {
      for (const [room, entries] of Object.entries(doors)) {
        if (!target.startsWith(`${room}/`) || file.startsWith(`${room}/`) || isTestCode(target)) continue;
        const inner = target.slice(room.length + 1).replace(/\.(ts|tsx|mjs)$/, "");
        if (!entries.includes(inner)) past.get(room).push(`${file} -> ${target}`);
      }
    }
  }
  return past;
}

/**
 * Compares figures with limits. A figure over its limit passes only while the debts name it, and only up to the figure named there.
 * @param {Record<string, number>} figures name -> figure of today.
 * @param {(name: string) => number} limitOf
 * @param {Record<string, number>} debts name -> the most it may be until it meets its limit.
 * @returns {{ worse: string[], left: Record<string, number> }} what breaks the rule, and the debts that are still needed, lowered to today's figures.
 */
export function ratchet(figures, limitOf, debts) {
  const over = Object.entries(figures).filter(([name, figure]) => figure > limitOf(name));
  const worse = over
    .filter(([name, figure]) => figure > (debts[name] ?? limitOf(name)))
    .map(([name, figure]) => `${name}: ${figure}, at most ${debts[name] ?? limitOf(name)}`);
  const left = over.filter(([name]) => debts[name] !== undefined).map(([name, figure]) => [name, Math.min(figure, debts[name])]);
  return { worse, left: Object.fromEntries(left) };
}
