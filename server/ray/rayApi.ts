import { Agent, type Dispatcher, request } from "undici";
import { engineConnector, withEngineKey } from "@/server/contracts/engine/engineConnection";
import { EngineAccessReader } from "@/server/contracts/engine/readEngineAccess";
import type { RayConnection } from "./connection";
import { lastWords } from "./rayWords";

/** A dashboard answers in milliseconds; the first PUT of a cluster starts Serve, which takes seconds. */
const usualLimitMs = 20_000;

const connectLimitMs = 5_000;

export interface RayCall {
  readonly signal?: AbortSignal | undefined;
  readonly limitMs?: number | undefined;
  /** JSON for a PUT; absent: GET. */
  readonly body?: string;
}

/** `refused`: Ray refuses it permanently; otherwise it may succeed later, and may have been done. */
export type RayRead<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly message: string; readonly refused: boolean };

export type RayApi = (path: string, call?: RayCall) => Promise<RayRead<string>>;

/**
 * Asks a Ray dashboard. Not with `fetch`: Node's sends `sec-fetch-mode`, for which Ray takes it for a browser, refuses a PUT and hides the
 * values of environment variables in what it tells, which would then be written back in place of the real ones.
 */
export function createRayApi(connection: Pick<RayConnection, "dashboard" | "key" | "caFile">): RayApi {
  const { dashboard, key, caFile } = connection;
  const access = new EngineAccessReader({ ...(key === undefined ? {} : { key }), ...(caFile === undefined ? {} : { caFile }) });
  const dispatcher: Dispatcher = new Agent({ connect: engineConnector(access, connectLimitMs) }).compose(withEngineKey(access));
  const { origin } = new URL(dashboard);
  const name = `Ray's dashboard at ${origin}`;
  const failed = (message: string, refused: boolean): RayRead<never> => ({ ok: false, message, refused });

  return async (path, { signal, limitMs = usualLimitMs, body } = {}) => {
    signal?.throwIfAborted();
    const reading = access.at(origin);
    if (!reading.ok) return failed(reading.error.message, true);
    const limit = AbortSignal.timeout(limitMs);
    try {
      const { statusCode, body: answer } = await request(new URL(path, dashboard), {
        dispatcher,
        method: body === undefined ? "GET" : "PUT",
        ...(body === undefined ? {} : { headers: { "content-type": "application/json" }, body }),
        signal: signal === undefined ? limit : AbortSignal.any([signal, limit]),
      });
      const text = await answer.text();
      if (statusCode === 200) return { ok: true, value: text };
      if (statusCode === 401) return failed(`${name} asks for a token: name one as the connection's key.`, true);
      if (statusCode === 403)
        return failed(`${name} does not take the connection's key: it is another cluster's, or has been replaced.`, true);
      if (statusCode === 501) return failed(`${name} has no Ray Serve: install "ray[serve]" there.`, true);
      if (statusCode === 400) return failed(`Ray Serve refuses the applications: ${lastWords(text)}`, true);
      const words = statusCode === 404 ? "is it a Ray dashboard, of Ray 2.8 or newer?" : lastWords(text);
      return failed(`${name} answers ${statusCode} to ${body === undefined ? "GET" : "PUT"} ${path}: ${words}`, statusCode < 500);
    } catch (error) {
      signal?.throwIfAborted();
      if (limit.aborted) return failed(`${name} did not answer within ${limitMs / 1000} s.`, false);
      return failed(`${name} cannot be reached (${causeOf(error)}).`, false);
    }
  };
}

/** JSON of an answer that can be read, else a sentence. */
export function readJson(answer: RayRead<string>): RayRead<unknown> {
  if (!answer.ok) return answer;
  try {
    return { ok: true, value: JSON.parse(answer.value) };
  } catch {
    return { ok: false, message: "What Ray answers is not JSON.", refused: true };
  }
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return "unknown";
  return "code" in error && typeof error.code === "string" ? error.code : error.message || error.name;
}
