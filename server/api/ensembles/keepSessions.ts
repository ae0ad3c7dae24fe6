import type { Store } from "@/server/store/store";
import type { SessionRow } from "@/solver/ensemble/sessions/sessionRow";
import { counted } from "@/solver/wording/wording";

/**
 * Stores the sessions of a table, with an audit line.
 *
 * @param from the table's name.
 * @returns how many of how many models, in words.
 */
export function keepSessions(store: Store, rows: readonly SessionRow[], by: { readonly actor: string; readonly from: string }): string {
  const detail = `${counted(rows.length, "session")} of ${counted(new Set(rows.map(({ model }) => model)).size, "model")}`;
  const { actor, from: subject } = by;
  store.atomically(() => {
    store.sessionRows.addAll(rows);
    store.audit.add({ at: new Date().toISOString(), actor, action: "import sessions", subject, detail, objectKind: "ensemble" });
  });
  return detail;
}
