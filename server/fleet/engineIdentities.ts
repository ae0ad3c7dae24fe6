import type { LiveFrame } from "@/server/contracts/studio";
import type { EngineIdentity } from "@/server/store/engineIdentityRepository";
import type { Store } from "@/server/store/store";

/** Most stored resets of an engine; with more of them, less time counts as known. */
const KEPT_RESETS = 256;

/** An engine that reported its version and reports none for this long has none; for a shorter time only its answer was lost. */
const SILENT_MS = 60_000;

/**
 * Stores the identities of a cluster's engines whenever they change, until there are no more frames: frames are transient, and end with the
 * studio.
 */
export async function keepIdentities(frames: AsyncIterable<LiveFrame>, identities: Store["identities"]): Promise<void> {
  const known = new Map<string, EngineIdentity>();
  const silentSinceMs = new Map<string, number>();

  const keep = ({ atMs, clusterId }: LiveFrame, { id, model, engine, events }: LiveFrame["engines"][number]): void => {
    if (engine === null) return;
    const before = known.get(id) ?? identities.get(clusterId, id);
    let sinceMs = atMs;
    if (before !== null && engine.version === null && before.version !== null && before.type === engine.type && before.model === model) {
      sinceMs = silentSinceMs.get(id) ?? atMs;
      silentSinceMs.set(id, sinceMs);
      if (atMs - sinceMs < SILENT_MS) return;
    }
    silentSinceMs.delete(id);
    const seen = { model, type: engine.type, version: engine.version };
    const resetsMs = events.flatMap((event) => (event.kind === "counters-reset" ? [event.atMs] : []));
    const now = withResets(before !== null && isSame(before, seen) ? before : { ...seen, sinceMs, resetsMs: [] }, resetsMs);
    if (now !== before) identities.put(clusterId, id, now);
    known.set(id, now);
  };

  for await (const frame of frames) {
    try {
      for (const engine of frame.engines) keep(frame, engine);
    } catch {
      // If the store cannot be written now, the next frame tries again, and less time counts as known.
    }
  }
}

/** Whether both are the same build of the same model. */
export const isSame = (
  one: Pick<EngineIdentity, "model" | "type" | "version">,
  other: Pick<EngineIdentity, "model" | "type" | "version">,
): boolean => one.model === other.model && one.type === other.type && one.version === other.version;

function withResets(identity: EngineIdentity, seenMs: readonly number[]): EngineIdentity {
  const lastMs = identity.resetsMs.at(-1) ?? identity.sinceMs;
  const later = seenMs.filter((atMs) => atMs > lastMs);
  if (later.length === 0) return identity;
  const resetsMs = [...identity.resetsMs, ...later];
  const dropped = resetsMs.at(-KEPT_RESETS - 1);
  return { ...identity, sinceMs: dropped ?? identity.sinceMs, resetsMs: resetsMs.slice(-KEPT_RESETS) };
}
