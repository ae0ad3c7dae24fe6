// `npm run house`: the sizes of the rooms of this repository, and import cycles.
// `-- --check` exits 1 where a limit of house.json is broken; `-- --tighten` lowers the debts of house.json to today's figures and
// names the entries of rooms that have none.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { folderCircles, folderSizes, importedFromOutside, importsPastEntries, ratchet, topFolders } from "./houseFigures.mjs";
import { circlesOf, importGraph, root, sourceFiles } from "./importGraph.mjs";

const rulesFile = join(root, "scripts", "house.json");

/** Prints the whole picture, or checks it against the rules. @returns {number} the exit code. */
export function house(args) {
  const rules = existsSync(rulesFile) ? JSON.parse(readFileSync(rulesFile, "utf8")) : { limits: {}, libraries: [], entries: {}, debts: {} };
  const files = sourceFiles();
  const graph = importGraph(files);
  const seen = {
    sizes: folderSizes(files),
    circles: folderCircles(graph),
    fileCircles: circlesOf(graph),
    readmes: readmes(),
    past: importsPastEntries(graph, rules.entries),
    imported: importedFromOutside(graph),
  };
  if (!args.includes("--check") && !args.includes("--tighten")) {
    print({ ...seen, files, entries: rules.entries });
    return 0;
  }
  const found = check(seen, rules);
  if (args.includes("--tighten")) {
    const entries = Object.fromEntries([...roomsIn(seen.imported, rules)].map(([room, names]) => [room, [...names].sort()]));
    const debts = { ...found.left, entries: debtsOf(entries, rules) };
    writeFileSync(rulesFile, `${JSON.stringify({ ...rules, entries, debts }, null, 2)}\n`);
    return 0;
  }
  for (const line of found.worse) process.stdout.write(`${line}\n`);
  process.stdout.write(found.worse.length === 0 ? "house: every limit is met\n" : `house: ${found.worse.length} limits are broken\n`);
  return found.worse.length === 0 ? 0 : 1;
}

/** @returns {{ worse: string[], left: object }} every broken limit as a line, and the debts that remain. */
function check({ sizes, circles, fileCircles, readmes, past, imported }, rules) {
  const { limits, entries, debts } = rules;
  const inCircle = (list) => Object.fromEntries(list.flat().map((member) => [member, 1]));
  const parts = [
    ["sources", "a folder has too many sources", Object.fromEntries(sizes), () => limits.sources],
    ["readmeBytes", "a README is too long", Object.fromEntries(readmes), (file) => limits.readmeBytes[file] ?? limits.readmeBytes["*"]],
    ["folderCircles", "a folder is in a circle", inCircle(circles.map(({ members }) => members)), () => 0],
    ["fileCircles", "a file is in a circle", inCircle(fileCircles), () => 0],
    [
      "pastEntries",
      "imports reach past a room's entries",
      Object.fromEntries([...past].map(([room, list]) => [room, list.length])),
      () => 0,
    ],
    ["entries", "a room has too many entries", counts(entries), () => limits.entries],
  ];
  const worse = [];
  const left = {};
  for (const [name, sentence, figures, limitOf] of parts) {
    const result = ratchet(figures, limitOf, debts[name] ?? {});
    worse.push(...result.worse.map((line) => `${sentence}: ${line}`));
    left[name] = result.left;
  }
  for (const [room] of roomsIn(imported, rules)) if (!entries[room]) worse.push(`a room has no entries in house.json: ${room}`);
  // The imports that make a new cycle show where to cut it.
  if (worse.some((line) => line.startsWith("a folder is in a circle")))
    worse.push(...circles.flatMap(({ ties }) => ties.map((tie) => `  ${tie}`)));
  return { worse, left };
}

const counts = (lists) => Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, list.length]));

/** The rooms that need entries, with the files that others import. Each file of a library is an entry. */
const roomsIn = (imported, { libraries }) =>
  [...imported].filter(([room]) => !libraries.includes(room)).sort(([a], [b]) => a.localeCompare(b));

/** The rooms with more entries than the limit, as far as the debts allow them. */
const debtsOf = (entries, { limits, debts }) =>
  Object.fromEntries(
    Object.entries(counts(entries))
      .filter(([, count]) => count > limits.entries)
      .map(([room, count]) => [room, Math.min(count, debts.entries?.[room] ?? count)]),
  );

function print({ files, sizes, circles, fileCircles, readmes, past, entries }) {
  const say = (line = "") => process.stdout.write(`${line}\n`);
  const linesOf = (file) => readFileSync(join(root, file), "utf8").split("\n").length - 1;
  const cell = (value) => String(value).padStart(8);
  const tops = topFolders(files, linesOf);
  const sum = (side, key) => tops.reduce((all, row) => all + row[side][key], 0);
  say("folder         product files   lines    test files   lines");
  for (const { name, product, test } of [
    ...tops,
    {
      name: "all",
      product: { files: sum("product", "files"), lines: sum("product", "lines") },
      test: { files: sum("test", "files"), lines: sum("test", "lines") },
    },
  ])
    say(`${name.padEnd(18)} ${cell(product.files)} ${cell(product.lines)}      ${cell(test.files)} ${cell(test.lines)}`);
  say("\nlargest folders, by own product sources");
  for (const [folder, count] of [...sizes].slice(0, 25)) say(`${cell(count)}  ${folder}`);
  const inCircles = circles.reduce((all, { members }) => all + members.length, 0);
  say(`\nfolder circles: ${circles.length}, with ${inCircles} of ${sizes.size} folders`);
  for (const { members, ties } of circles) say(`  ${members.length} folders tied by ${ties.length} edges: ${members.join(", ")}`);
  say(`\nfile circles, type-only imports included: ${fileCircles.length}`);
  for (const members of fileCircles) say(`  ${members.join(", ")}`);
  say("\nREADME bytes");
  for (const [file, bytes] of readmes) say(`${cell(bytes)}  ${file}`);
  say(`\nrooms with entries: ${Object.keys(entries).length}; imports past them: ${[...past.values()].flat().length}`);
  say("rooms with the most entries");
  const most = Object.entries(counts(entries)).sort(([a, n], [b, m]) => m - n || a.localeCompare(b));
  for (const [room, count] of most.slice(0, 25)) say(`${cell(count)}  ${room}`);
  const dead = deadCode();
  say(`\nexported names that no file imports: ${dead ? dead.exports : "knip is not installed"}`);
  if (dead) say(`files that nothing imports: ${dead.files}; packages that nothing imports: ${dead.packages}`);
}

/** @returns {[string, number][]} each README with its bytes. */
function readmes() {
  const listed = execFileSync("git", ["ls-files", "--cached", "--others", "--exclude-standard", "*README.md"], { cwd: root });
  const paths = listed.toString().split("\n");
  return paths.filter((file) => file !== "" && existsSync(join(root, file))).map((file) => [file, statSync(join(root, file)).size]);
}

/**
 * Counts knip's findings. @returns {{ exports: number, files: number, packages: number } | undefined} undefined where it is not installed.
 */
function deadCode() {
  const knip = join(root, "node_modules", ".bin", "knip");
  if (!existsSync(knip)) return undefined;
  const report = execFileSync(knip, ["--no-progress", "--no-exit-code", "--reporter", "json"], { cwd: root, maxBuffer: 1 << 26 });
  const { issues } = JSON.parse(report.toString());
  const count = (kinds) => issues.reduce((all, issue) => all + kinds.reduce((own, kind) => own + (issue[kind]?.length ?? 0), 0), 0);
  return { exports: count(["exports", "types"]), files: count(["files"]), packages: count(["dependencies", "devDependencies"]) };
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) process.exit(house(process.argv.slice(2)));
