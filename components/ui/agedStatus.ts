import { formatAge } from "./format";
import type { PanelStatus } from "./PanelState";

/** A query's status, which states the age of a stale answer. @param nowMs null until the browser has a clock. */
export function agedStatus(known: PanelStatus, { dataUpdatedAt }: { readonly dataUpdatedAt: number }, nowMs: number | null): PanelStatus {
  if (known.kind !== "stale") return known;
  const ageSeconds = nowMs === null ? 0 : Math.max(0, (nowMs - dataUpdatedAt) / 1000);
  return { kind: "stale", note: `${known.note} This data is ${formatAge(ageSeconds)} old.` };
}
