import type { buildConnector, Dispatcher } from "undici";
import { guardedConnector } from "./guardedConnector";
import type { EngineAccessReader } from "./readEngineAccess";
import { refuseCall } from "./refusedCall";

/** Creates connections to an engine: its certificate is verified against the current authorities. */
export function engineConnector(access: EngineAccessReader, timeoutMs: number): buildConnector.connector {
  let made: { readonly ca: string | null; readonly connect: buildConnector.connector } | null = null;
  return (options, callback) => {
    const reading = access.at(new URL(`${options.protocol}//${options.host ?? options.hostname}`).origin);
    if (!reading.ok) return callback(reading.error, null);
    // One for each set of authorities, so that no session that other authorities verified is resumed.
    if (made?.ca !== reading.ca) {
      const { ca } = reading;
      made = { ca, connect: guardedConnector({ timeoutMs, ca }) };
    }
    made.connect(options, callback);
  };
}

/**
 * Replaces the authorization of every request by the engine's own key. If the required key is missing, or may not be sent to that origin,
 * nothing is sent.
 *
 * @param fixed the origin of all requests; absent: each request names its own.
 */
export function withEngineKey(access: EngineAccessReader, fixed?: string): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const reading = access.at(fixed ?? new URL(String(options.origin)).origin);
    if (!reading.ok) {
      return refuseCall(handler, reading.error);
    }
    if (reading.key === null) return dispatch(options, handler);
    const headers = { ...(options.headers as Record<string, string> | undefined), authorization: `Bearer ${reading.key}` };
    return dispatch({ ...options, headers }, handler);
  };
}
