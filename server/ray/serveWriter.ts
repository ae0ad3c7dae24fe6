import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, StepOptions } from "@/server/clusters/connector/connector";
import { type Look, waitUntil } from "@/server/clusters/connector/waitUntil";
import { carryOver, lostBy, type ServeEdit } from "./carryOver";
import type { RayApi } from "./rayApi";
import { readServeState, type ServeState } from "./serveState";

export const applicationsPath = "/api/serve/applications/";

/** How an edit follows from what is there at that moment; an answer where there is nothing to be written. */
type DecideEdit = (state: ServeState) => ServeEdit | Answer<string>;

/** Building an application may install what it needs. */
const buildLimitMs = 900_000;

export interface ServeWriterOptions {
  /** How long a dashboard that is away is waited for. */
  readonly patienceMs: number;
  readonly everyMs: number;
}

export type ServeWriter = (decide: DecideEdit, done: string, options: StepOptions) => Promise<Answer<string>>;

/** By dashboard: whoever writes to the same Ray in this process waits for the others. */
const turns = new Map<string, Promise<unknown>>();

/**
 * Changes one application and keeps the rest. Ray has no ETag: what is there is read right before the PUT, and again after it. An
 * application that somebody else changes in the few milliseconds between is set back to what was read, and nobody can tell.
 */
export function createServeWriter(api: RayApi, dashboard: string, { patienceMs, everyMs }: ServeWriterOptions): ServeWriter {
  const read = async (signal: AbortSignal) => readServeState(await api(applicationsPath, { signal }));

  async function write(decide: DecideEdit, done: string, options: StepOptions): Promise<Answer<string>> {
    const { signal } = options;
    let awaySince: number | null = null;
    const unanswered = ({ message, refused }: { readonly message: string; readonly refused: boolean }): Look => {
      awaySince ??= Date.now();
      return refused || Date.now() - awaySince >= patienceMs ? { failed: message } : { waiting: message };
    };
    return waitUntil(
      async (): Promise<Look> => {
        const before = await read(signal);
        if (!before.ok) return unanswered(before);
        const edit = decide(before.value);
        if ("ok" in edit) return edit.ok ? { holds: edit.value } : { failed: edit.message };
        const carried = carryOver(before.value, edit);
        if (!("body" in carried)) {
          awaySince = null;
          return carried;
        }
        const put = await api(applicationsPath, { signal, body: carried.body });
        if (!put.ok) return unanswered(put);
        // Serve takes a PUT up at once; a moment more shows what it does with it.
        await sleep(everyMs, undefined, { signal });
        const after = await read(signal);
        if (!after.ok) return { holds: `${done}; whether all other applications are still there could not be seen: ${after.message}` };
        const lost = lostBy(before.value, carried.kept, { removed: edit.remove, after: after.value });
        if (lost.length === 0) return { holds: done };
        return { failed: `Ray has removed ${lost.join(", ")} beside what was asked: deploy ${lost.length === 1 ? "it" : "them"} again.` };
      },
      { ...options, limitMs: buildLimitMs, everyMs },
    );
  }

  return (decide, done, options) => {
    const turn = (turns.get(dashboard) ?? Promise.resolve()).then(() => write(decide, done, options));
    turns.set(
      dashboard,
      turn.catch(() => undefined),
    );
    return turn;
  };
}
