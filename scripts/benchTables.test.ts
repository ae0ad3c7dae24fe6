import { expect, it } from "vitest";

const { withTables } = (await import("./benchTables.mjs" as string)) as {
  withTables: (text: string, tableOf: (name: string) => string | null) => string;
};

it("puts tables between the marks of their names, again and again, and leaves others as they are", () => {
  const text = "a\n<!-- table one -->\nold\n<!-- end one -->\nb\n<!-- table two -->\nkept\n<!-- end two -->\n";
  const put = (table: string) => (name: string) => (name === "one" ? table : null);
  const once = withTables(text, put("| $& | 1 |\n"));
  expect(once).toBe("a\n<!-- table one -->\n\n| $& | 1 |\n\n<!-- end one -->\nb\n<!-- table two -->\nkept\n<!-- end two -->\n");
  expect(withTables(once, put("| $& | 1 |\n"))).toBe(once);
});
