import type { AuditFilter, AuditFormat, AuditOverview, AuditRecord } from "@/server/contracts/studio";
import { formatCount, formatCounted, formatDate } from "../ui/format";
import type { AuditView } from "./auditCodec";

const DAY_MS = 86_400_000;

/** The beginning of a day of this browser; `later` days after it. Daylight saving moves it. */
function dayStart(day: string, later = 0): string {
  const noon = new Date(`${day}T12:00:00`);
  const moved = new Date(noon.getTime() + later * DAY_MS);
  return new Date(moved.getFullYear(), moved.getMonth(), moved.getDate()).toISOString();
}

/** The filter that a view asks for; the last day is included. */
export function filterOf({ who, act, kind, object, outcome, from, to }: AuditView): AuditFilter {
  return {
    ...(who === null ? {} : { actor: who }),
    ...(act === null ? {} : { action: act }),
    ...(kind === null ? {} : { objectKind: kind }),
    ...(object === null || object.trim() === "" ? {} : { object: object.trim() }),
    ...(outcome === null ? {} : { outcome }),
    ...(from === null ? {} : { from: dayStart(from) }),
    ...(to === null ? {} : { to: dayStart(to, 1) }),
  };
}

export const isFiltered = (view: AuditView): boolean => Object.keys(filterOf(view)).length > 0;

/** The address of the export of what a view shows, all pages of it. */
export function exportAddress(view: AuditView, format: AuditFormat): string {
  return `/api/audit/export?${new URLSearchParams({ format, ...(filterOf(view) as Record<string, string>) })}`;
}

/** Choices of a filter: all, those that the audit has, and the chosen one, which may come from an old address. */
export function choices(
  all: string,
  names: readonly string[],
  chosen: string | null,
): readonly { readonly value: string; readonly text: string }[] {
  const known = chosen === null || names.includes(chosen) ? names : [chosen, ...names];
  return [{ value: "", text: all }, ...known.map((name) => ({ value: name, text: name }))];
}

/** Local date and time to the second. */
export const whenText = (at: string): string => `${formatDate(at)}:${String(new Date(at).getSeconds()).padStart(2, "0")}`;

/** Who did it, as which role and from where, as far as it is known. */
export const actorFacts = ({ role, address }: AuditRecord): string => [role, address].filter((fact) => fact !== null).join(", ");

/** The outcome as one word with the number of attempts that the line stands for. */
export function outcomeWord({ outcome, times }: AuditRecord): { readonly tone: "good" | "bad"; readonly text: string } {
  const text = times === 1 ? outcome : `${outcome}, ${formatCount(times)} times`;
  return { tone: outcome === "done" ? "good" : "bad", text };
}

/** How many lines there are, in a sentence that a screen reader announces after a change of the filter. */
export function countSentence(total: number, view: AuditView): string {
  const lines = formatCounted(total, "line");
  if (!isFiltered(view)) return `${lines}.`;
  return total === 0 ? "No line fits the filter." : `${lines} ${total === 1 ? "fits" : "fit"} the filter.`;
}

/** The end of the chain as an auditor notes it. */
export const headFact = ({ lines, headHash }: AuditOverview): string => `${formatCounted(lines, "line")}, head ${headHash.slice(0, 12)}`;
