import { readdirSync, readFileSync } from "node:fs";
import { expect, it } from "vitest";

const { withTables, emptyTables } = (await import("./benchTables.mjs" as string)) as {
  withTables: (text: string, tableOf: (name: string) => string | null) => string;
  emptyTables: (text: string) => string[];
};

it("puts tables between the marks of their names, again and again, and leaves others as they are", () => {
  const text = "a\n<!-- table one -->\nold\n<!-- end one -->\nb\n<!-- table two -->\nkept\n<!-- end two -->\n";
  const put = (table: string) => (name: string) => (name === "one" ? table : null);
  const once = withTables(text, put("| $& | 1 |\n"));
  expect(once).toBe("a\n<!-- table one -->\n\n| $& | 1 |\n\n<!-- end one -->\nb\n<!-- table two -->\nkept\n<!-- end two -->\n");
  expect(withTables(once, put("| $& | 1 |\n"))).toBe(once);
});

it("finds the tables without a row: those that are not there, say that nothing was run, or have a head alone", () => {
  const table = (name: string, body: string) => `<!-- table ${name} -->\n${body}<!-- end ${name} -->\n`;
  const head = "| a | b |\n| --- | --: |\n";
  const text = `${table("none", "")}${table("words", "\nNot run.\n\n")}${table("head", `\n${head}\n`)}${table("full", `\n${head}| 1 | 2 |\n\n`)}`;
  expect(emptyTables(text)).toEqual(["none", "words", "head"]);
});

it("every table of the committed results has rows", () => {
  const folder = new URL("../bench/results/", import.meta.url);
  const pages = readdirSync(folder).filter((name) => name.endsWith(".md"));
  const empty = pages.flatMap((page) => emptyTables(readFileSync(new URL(page, folder), "utf8")).map((name) => `${page}: ${name}`));
  expect(empty).toEqual([]);
});
