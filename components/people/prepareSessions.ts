import type { SessionSummary } from "@/server/contracts/studio";
import { formatDate } from "../ui/format";

export interface SessionRow {
  readonly id: string;
  readonly person: string;
  readonly began: string;
  readonly lastUsed: string;
  readonly expires: string;
  readonly own: boolean;
}

interface SessionList {
  readonly rows: readonly SessionRow[];
  /** How many sessions "end all others" ends. */
  readonly others: number;
}

/** Unexpired sessions: the own one first, then the last used. */
export function prepareSessions(sessions: readonly SessionSummary[], nowMs: number): SessionList {
  const open = sessions.filter(({ expiresAt }) => Date.parse(expiresAt) > nowMs);
  const ordered = open.toSorted((a, b) => Number(b.own) - Number(a.own) || b.lastUsedAt.localeCompare(a.lastUsedAt));
  const rows = ordered.map(({ id, userName, createdAt, lastUsedAt, expiresAt, own }) => ({
    ...{ id, person: userName, own },
    began: formatDate(createdAt),
    lastUsed: formatDate(lastUsedAt),
    expires: formatDate(expiresAt),
  }));
  return { rows, others: rows.filter(({ own }) => !own).length };
}
