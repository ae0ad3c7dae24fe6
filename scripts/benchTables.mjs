// `node scripts/benchTables.mjs`: writes the tables of bench/results/tables/*.md between the marks with their names in bench/results/*.md.
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const results = join(dirname(dirname(fileURLToPath(import.meta.url))), "bench", "results");

/**
 * A text in which the part between `<!-- table NAME -->` and `<!-- end NAME -->` is replaced by `tableOf(NAME)`; null leaves it unchanged.
 */
export const withTables = (text, tableOf) =>
  text.replaceAll(/(<!-- table (\S+) -->\n)[\s\S]*?(<!-- end \2 -->)/g, (whole, open, name, close) => {
    const table = tableOf(name);
    return table === null ? whole : `${open}\n${table.trim()}\n\n${close}`;
  });

/** The names of a text's tables that have no row under their head. */
export const emptyTables = (text) =>
  [...text.matchAll(/<!-- table (\S+) -->\n([\s\S]*?)<!-- end \1 -->/g)]
    .filter(([, , table]) => !/^\|[-:| ]+\|\n\|/m.test(table))
    .map(([, name]) => name);

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  for (const name of readdirSync(results).filter((name) => name.endsWith(".md"))) {
    const page = join(results, name);
    const text = withTables(readFileSync(page, "utf8"), (table) => {
      const file = join(results, "tables", `${table}.md`);
      process.stdout.write(existsSync(file) ? `${name}: ${table} updated\n` : `${name}: ${table} has no new run\n`);
      return existsSync(file) ? readFileSync(file, "utf8") : null;
    });
    writeFileSync(page, text);
  }
}
