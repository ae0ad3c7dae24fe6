import { batchedWrite } from "@/server/store/batchedWrite";
import type { StoredCall } from "@/server/store/profileRepository";
import type { Store } from "@/server/store/store";

export interface CallWriter {
  /** Resolves when it is on disk. */
  save(call: StoredCall): Promise<void>;
  /** Deletes an answer's text with the next calls. */
  drop(position: number, model: string): void;
  /** Writes what waits, at once; where that fails it waits on. */
  flush(): void;
}

/** Puts down calls of a job, those of one turn of the event loop together. */
export function createCallWriter(profiles: Store["profiles"], profileId: string): CallWriter {
  let calls: StoredCall[] = [];
  let drops: { readonly position: number; readonly model: string }[] = [];

  /** @throws what the disk throws: whoever has the calls has them yet, and texts are deleted with the next. */
  function write(): void {
    if (calls.length === 0 && drops.length === 0) return;
    const [rows, answers] = [calls, drops];
    calls = [];
    drops = [];
    try {
      profiles.saveCalls(profileId, rows, answers);
    } catch (error) {
      drops = [...answers, ...drops];
      throw error;
    }
  }

  function flush(): void {
    const rows = calls;
    try {
      write();
    } catch (error) {
      calls = rows;
      throw error;
    }
  }

  const later = batchedWrite(write);

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
