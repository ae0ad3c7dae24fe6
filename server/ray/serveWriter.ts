import { setTimeout as sleep } from "node:timers/promises";
import type { Answer, StepOptions } from "@/server/clusters/connector/connector";
import { type Look, waitUntil } from "@/server/clusters/connector/waitUntil";
import { carryOver, lostBy, type ServeEdit } from "./carryOver";
import type { RayApi } from "./rayApi";
import { readServeState, type ServeState } from "./serveState";

export const applicationsPath = "/api/serve/applications/";

/** Derives an edit from the present state; returns an answer if nothing must be written. */
type DecideEdit = (state: ServeState) => ServeEdit | Answer<string>;

/** Building an application may install its requirements. */
const buildLimitMs = 900_000;

export interface ServeWriterOptions {
  /** Time limit of the wait for a dashboard that does not answer. */
  readonly patienceMs: number;
  readonly everyMs: number;
}

export type ServeWriter = (decide: DecideEdit, done: string, options: StepOptions) => Promise<Answer<string>>;

/** By dashboard: writers to the same Ray in this process wait for each other. */
const turns = new Map<string, Promise<unknown>>();

/**
 * Changes one application and keeps the rest. Ray has no ETag: the state is read immediately before the PUT, and again after it. If another
 * client changes an application in the few milliseconds in between, the PUT reverts that change undetected.
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
        // Serve processes a PUT at once; a moment later its effect is visible.
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
