import { textTable } from "../describe/textTable";
import type { NeededData, OwnFigure, ReproducedRow, Reproduction, SourceFigure } from "./reproduction";

const DIGITS = 3;

const figureText = (value: number | string): string => (typeof value === "string" ? value : numberText(value));

const numberText = (value: number): string =>
  Math.abs(value) >= 1000 ? String(Math.round(value)) : String(Number(value.toPrecision(DIGITS)));

/** `1.23 x (1.1 to 1.4, 3 seeds)`, or why there is no figure, in a word or two. */
function ownText(ours: OwnFigure): string {
  switch (ours.kind) {
    case "measured": {
      const { value, unit, interval, seeds } = ours;
      if (value === null) return "none";
      const span = interval === null ? [] : [`${numberText(interval.low)} to ${numberText(interval.high)}`];
      const over = seeds === null ? [] : [`${seeds} ${seeds === 1 ? "seed" : "seeds"}`];
      const around = [...span, ...over].join(", ");
      return `${figureText(value)} ${unit}`.trim() + (around === "" ? "" : ` (${around})`);
    }
    case "not-measured":
      return "not measured";
    case "data-missing":
      return "data missing";
    case "failed":
      return "failed";
  }
}

const sourceText = ({ value, unit }: SourceFigure): string => (value === null ? "no number" : `${value} ${unit}`.trim());

/** The reason of a row, with what keeps it from a figure of ours. */
function reasonText({ ours, difference }: ReproducedRow): string {
  if (ours.kind === "data-missing") return `Needs ${ours.files.join(", ")}. ${difference}`;
  return ours.kind === "failed" ? `${ours.benchmark} failed: ${ours.message} ${difference}` : difference;
}

/** One sentence for a missing file: what it holds and where to get it. */
export const missingText = ({ file, what, from }: NeededData): string => `Missing: ${file} (${what}), from ${from}.`;

/** Rows with ours beside the source's as terminal text; reasons stand below, by number. */
export function describeReproduction({ rows }: Reproduction): string {
  const reasons = [...new Set(rows.map(reasonText))];
  const lines = rows.map((row) => [
    `${row.source.figure}: ${row.source.what}`,
    ownText(row.ours),
    sourceText(row.source),
    `[${reasons.indexOf(reasonText(row)) + 1}]`,
  ]);
  const notes = reasons.map((reason, at) => `  [${at + 1}] ${reason}\n`);
  return `${textTable([["figure", "ours", "source", "reason"], ...lines])}\n${notes.join("")}`;
}

/** The same as a page in Markdown, with what each figure of ours was measured on. */
export function reproductionPage({ system, machine, data, rows }: Reproduction): string {
  const escaped = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");
  const table = [
    ["figure", "what", "ours", "source", "section", "why they differ"],
    Array.from({ length: 6 }, () => "---"),
    ...rows.map((row) => [
      row.source.figure,
      row.source.what,
      ownText(row.ours),
      sourceText(row.source),
      row.source.section,
      reasonText(row),
    ]),
  ];
  const measured = new Map(rows.flatMap(({ ours }) => (ours.kind === "measured" ? [[ours.benchmark, ours.detail] as const] : [])));
  return [
    `# ${system}: ours beside the source's\n\n`,
    `Measured on ${machine}. Intervals are of 90 % over seeds.\n\n`,
    ...data.map(({ file, what, present }) => `- ${file}: ${what}${present ? "" : " (missing)"}\n`),
    "\n",
    ...table.map((cells) => `| ${cells.map(escaped).join(" | ")} |\n`),
    measured.size === 0 ? "" : "\nWhat was measured:\n\n",
    ...[...measured].map(([benchmark, detail]) => `- ${benchmark}: ${detail}\n`),
  ].join("");
}
