import { buildConnector, type Dispatcher } from "undici";
import type { EngineAccessReader } from "./readEngineAccess";

/** No request was sent, because the key or certificate for it is missing. */
export class EngineAccessError extends Error {}

/** Creates connections to an engine: its certificate is verified against the current authorities. */
export function engineConnector(access: EngineAccessReader, timeoutMs: number): buildConnector.connector {
  let made: { readonly ca: string | null; readonly connect: buildConnector.connector } | null = null;
  return (options, callback) => {
    const reading = access.current;
    if (!reading.ok) return callback(new EngineAccessError(reading.reason), null);
    // One for each set of authorities, so that no session that other authorities verified is resumed.
    if (made?.ca !== reading.ca) {
      const { ca } = reading;
      made = { ca, connect: buildConnector({ timeout: timeoutMs, ...(ca === null ? {} : { ca }) }) };
    }
    made.connect(options, callback);
  };
}

/** Replaces the authorization of every request by the engine's own key. If the required key is missing, nothing is sent. */
export function withEngineKey(access: EngineAccessReader): Dispatcher.DispatcherComposeInterceptor {
  return (dispatch) => (options, handler) => {
    const reading = access.current;
    if (!reading.ok) {
      handler.onResponseError?.(ended, new EngineAccessError(reading.reason));
      return true;
    }
    if (reading.key === null) return dispatch(options, handler);
    const headers = { ...(options.headers as Record<string, string> | undefined), authorization: `Bearer ${reading.key}` };
    return dispatch({ ...options, headers }, handler);
  };
}

/** The controller of a request that never began. */
const ended: Dispatcher.DispatchController = {
  get aborted() {
    return true;
  },
  get paused() {
    return false;
  },
  get reason() {
    return null;
  },
  get rawHeaders() {
    return null;
  },
  get rawTrailers() {
    return null;
  },
  abort() {},
  pause() {},
  resume() {},
};
