// The figures of `npm run house`: sizes, import cycles and imports past a room's entries, each a function of the file list and the import
// graph.
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

/**
 * Finds cycles of folders, at the second level (`server/planning` with all that it holds) and at the level of each file's own folder.
 * @returns {{ members: string[], ties: string[] }[]} with one import for each edge of the cycle.
 */
export function folderCircles(graph) {
  const circles = [2, undefined].flatMap((levels) => {
    const folders = folderGraph(graph, levels);
    return circlesOf(folders.graph).map((members) => {
      const inside = new Set(members);
      const ties = members.flatMap((from) =>
        [...folders.graph.get(from)].filter((to) => inside.has(to)).map((to) => folders.ties.get(`${from} -> ${to}`)[0]),
      );
      return { members, ties };
    });
  });
  return circles.filter(({ members }, index) => circles.findIndex((other) => other.members.join() === members.join()) === index);
}

/**
 * Finds the files of each room that product code outside it imports. A room is a folder; what it holds belongs to it.
 * @returns {Map<string, Set<string>>} room -> its files that others import, without extension, relative to the room.
 */
export function importedFromOutside(graph) {
  const found = new Map();
  for (const [file, targets] of graph) {
    if (isTestCode(file)) continue;
    for (const target of targets) {
      const room = folderOf(target);
      if (isTestCode(target) || file.startsWith(`${room}/`)) continue;
      if (!found.has(room)) found.set(room, new Set());
      found.get(room).add(nameIn(room, target));
    }
  }
  return found;
}

/**
 * Finds imports of a room's inner files from outside it. Test code may import any file.
 * @param {Record<string, string[]>} entries room -> names of its entry files, without extension. A folder inside a room is a room too.
 * @returns {Map<string, string[]>} room -> "importer -> inner file".
 */
export function importsPastEntries(graph, entries) {
  const past = new Map(Object.keys(entries).map((room) => [room, []]));
  for (const [file, targets] of graph) {
    if (isTestCode(file)) continue;
    for (const target of targets) {
      const room = folderOf(target);
      if (isTestCode(target) || file.startsWith(`${room}/`) || entries[room] === undefined) continue;
      if (!entries[room].includes(nameIn(room, target))) past.get(room).push(`${file} -> ${target}`);
    }
  }
  return past;
}

const nameIn = (room, file) => file.slice(room.length + 1).replace(/\.(ts|tsx|mjs)$/, "");

/**
 * Compares figures with limits. A figure over its limit passes only while the debts name it, and only up to the figure named there.
 * @param {Record<string, number>} figures name -> current figure.
 * @param {(name: string) => number} limitOf
 * @param {Record<string, number>} debts name -> the maximum until it meets its limit.
 * @returns {{ worse: string[], left: Record<string, number> }} the violations, and the debts that are still needed, lowered to the current
 * figures.
 */
export function ratchet(figures, limitOf, debts) {
  const over = Object.entries(figures).filter(([name, figure]) => figure > limitOf(name));
  const worse = over
    .filter(([name, figure]) => figure > (debts[name] ?? limitOf(name)))
    .map(([name, figure]) => `${name}: ${figure}, at most ${debts[name] ?? limitOf(name)}`);
  const left = over.filter(([name]) => debts[name] !== undefined).map(([name, figure]) => [name, Math.min(figure, debts[name])]);
  return { worse, left: Object.fromEntries(left) };
}
