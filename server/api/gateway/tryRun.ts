import { guardedFetch } from "@/server/contracts/engine/guardedFetch";
import { type WorkflowRun, type WorkflowRunRequest, workflowRunSchema } from "@/server/contracts/gateway/workflowRuns";
import type { Outcome } from "@/server/contracts/studio";
import type { TryRunRequest } from "@/server/contracts/studio/declaredWorkflows";
import { reasonOf } from "@/server/lib/reasonOf";

/** A user waits for it; longer runs need clients of their own. */
const LIMIT_MS = 60_000;

/** Outputs of sixteen agents, with room. */
const MOST_BYTES = 8_000_000;

/** Longest part of a foreign error message that is repeated. */
const SHOWN_LENGTH = 300;

/**
 * Makes a gateway run a workflow once, on its data port, with a client's request. A failed run is returned as a document that states the
 * failure.
 *
 * @param gatewayUrl root of the API, without `/v1`.
 * @returns in a sentence why there was no run.
 * @throws the signal's reason when it aborts.
 */
export async function tryRun(
  gatewayUrl: string,
  { workflow, input }: Omit<TryRunRequest, "clusterId">,
  signal: AbortSignal,
): Promise<Outcome<{ readonly run: WorkflowRun }>> {
  const limit = AbortSignal.timeout(LIMIT_MS);
  const body: WorkflowRunRequest = { input, stream: false };
  try {
    const root = gatewayUrl.endsWith("/") ? gatewayUrl : `${gatewayUrl}/`;
    const response = await guardedFetch(new URL(`v1/workflows/${encodeURIComponent(workflow)}/runs`, root), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.any([signal, limit]),
    });
    if (response.status === 401) {
      void response.body?.cancel();
      const message = `This gateway asks its clients for a key, which the studio has none of: send {"input": ...} to POST ${response.url} with yours.`;
      return { ok: false, message };
    }
    const read = jsonOf(await bounded(response));
    const run = workflowRunSchema.safeParse(read);
    if (run.success) return { ok: true, run: run.data };
    return { ok: false, message: `The gateway did not run ${workflow}: ${errorOf(read) ?? `it answered with status ${response.status}`}` };
  } catch (problem) {
    signal.throwIfAborted();
    if (limit.aborted)
      return {
        ok: false,
        message: `The run took longer than ${LIMIT_MS / 1000} s, so it was given up: clients of their own may wait longer.`,
      };
    return { ok: false, message: `The gateway at ${gatewayUrl} cannot be asked: ${reasonOf(problem)}.` };
  }
}

/** The text of an answer; cut off if it is longer than any run's. */
async function bounded({ body }: Response): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body ?? []) {
    bytes += part.length;
    if (bytes > MOST_BYTES) throw new Error(`its answer is longer than ${MOST_BYTES / 1e6} MB`);
    parts.push(part);
  }
  return Buffer.concat(parts).toString("utf8");
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The message of an error in the form of OpenAI's API; null if there is none. */
function errorOf(read: unknown): string | null {
  if (typeof read !== "object" || read === null || !("error" in read)) return null;
  const { error } = read;
  return typeof error === "object" && error !== null && "message" in error ? String(error.message).slice(0, SHOWN_LENGTH) : null;
}
