/** A table of Markdown; a cell's bars and line ends are escaped. Braces are hidden from Vue, which reads the pages after Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), `|${head.map(() => "---|").join("")}`, ...rows.map(line)].join("\n");
}

const cell = (text: string): string => text.replaceAll("\n", " ").replaceAll("|", "\\|").replaceAll("{{", "{ {");

/** Text as code; empty text stays empty. */
export const code = (text: string): string => (text === "" ? "" : `\`${text}\``);

/** Plain text in a page: nothing in it is read as a tag. */
export const plain = (text: string): string => text.replaceAll("<", "&lt;").replaceAll("{{", "{ {");

/** Joins parts of a page with empty lines between; the first line says that the page is generated. */
export const page = (parts: readonly string[]): string =>
  `${["<!-- Written by `npm run docs:reference`; a test fails when it is stale. -->", ...parts].join("\n\n")}\n`;
