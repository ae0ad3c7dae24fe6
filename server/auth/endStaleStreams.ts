import type { Store } from "@/server/store/store";
import { idleLimitMs } from "./identify";
import type { OpenStreams } from "./openStreams";

const everyMs = 10_000;

/**
 * Ends the streams of sessions and tokens that are valid no longer: expired meanwhile, or ended by another process, such as the command
 * line.
 *
 * @returns stops it
 */
export function endStaleStreams(store: Pick<Store, "sessions" | "apiTokens">, openStreams: OpenStreams, intervalMs = everyMs): () => void {
  const timer = setInterval(() => {
    const open = openStreams.callers();
    if (open.length === 0) return;
    const now = new Date().toISOString();
    const idleSince = new Date(Date.now() - idleLimitMs).toISOString();
    const sessions = store.sessions
      .list()
      .flatMap(({ id, expiresAt, lastUsedAt }) => (expiresAt > now && lastUsedAt > idleSince ? [id] : []));
    const valid = new Set([...sessions, ...store.apiTokens.validIds(now)]);
    openStreams.end(open.filter((id) => !valid.has(id)));
  }, intervalMs).unref();
  return () => clearInterval(timer);
}
