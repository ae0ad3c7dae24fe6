// `node scripts/benchTables.mjs`: puts the tables of bench/results/*.md between the marks of their names in bench/README.md.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";

const bench = join(dirname(dirname(fileURLToPath(import.meta.url))), "bench");

/** A text with what lies between `<!-- table NAME -->` and `<!-- end NAME -->` replaced by what `tableOf` gives of the name; null leaves it. */
export const withTables = (text, tableOf) =>
  text.replaceAll(/(<!-- table (\S+) -->\n)[\s\S]*?(<!-- end \2 -->)/g, (whole, open, name, close) => {
    const table = tableOf(name);
    return table === null ? whole : `${open}\n${table.trim()}\n\n${close}`;
  });

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  const readme = join(bench, "README.md");
  const text = withTables(readFileSync(readme, "utf8"), (name) => {
    const file = join(bench, "results", `${name}.md`);
    process.stdout.write(existsSync(file) ? `${name}: put\n` : `${name}: no ${file}, left as it is\n`);
    return existsSync(file) ? readFileSync(file, "utf8") : null;
  });
  writeFileSync(readme, text);
}
