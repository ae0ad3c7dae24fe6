import type { StoredCall } from "@/server/store/profileRepository";
import type { Store } from "@/server/store/store";

export interface CallWriter {
  /** Resolves when it is on disk. */
  save(call: StoredCall): Promise<void>;
  /** Deletes an answer's text with the next calls. */
  drop(position: number, model: string): void;
  /** Writes what waits, at once. */
  flush(): void;
}

/** Puts down calls of a job: those of one turn of the event loop together, since each transaction costs as much as many rows. */
export function createCallWriter(profiles: Store["profiles"], profileId: string): CallWriter {
  let calls: StoredCall[] = [];
  let drops: { readonly position: number; readonly model: string }[] = [];
  let flushed: Promise<void> | null = null;

  function flush(): void {
    if (calls.length === 0 && drops.length === 0) return;
    const [rows, answers] = [calls, drops];
    calls = [];
    drops = [];
    profiles.saveCalls(profileId, rows, answers);
  }

  function later(): Promise<void> {
    flushed ??= new Promise((resolve, reject) => {
      setImmediate(() => {
        flushed = null;
        try {
          flush();
          resolve();
        } catch (error) {
          reject(error);
        }
      });
    });
    return flushed;
  }

  return {
    flush,
    save(call) {
      calls.push(call);
      return later();
    },
    drop(position, model) {
      drops.push({ position, model });
    },
  };
}
