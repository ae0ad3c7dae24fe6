/** Beginnings that a spreadsheet takes for a formula. An apostrophe itself is marked too, so that the mark can be taken off again. */
const FORMULA = /^[=+\-@\t\r\n'＝＋－＠]/;

/** A value in quotes, with an apostrophe before what a spreadsheet would take for a formula. */
export function csvCell(value: string | number | null): string {
  const text = value === null ? "" : String(value);
  const safe = typeof value === "string" && FORMULA.test(text) ? `'${text}` : text;
  return `"${safe.replaceAll('"', '""')}"`;
}
