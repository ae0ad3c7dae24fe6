import { buildConnector, type Dispatcher } from "undici";
import type { EngineAccessReader } from "./readEngineAccess";

/** Nothing was asked, for what it takes to be let in is not there. */
export class EngineAccessError extends Error {}

/** How connections to an engine are made: its certificate is held against the authorities as they are now. */
export function engineConnector(access: EngineAccessReader, timeoutMs: number): buildConnector.connector {
  let made: { readonly ca: string | null; readonly connect: buildConnector.connector } | null = null;
  return (options, callback) => {
    const reading = access.current;
    if (!reading.ok) return callback(new EngineAccessError(reading.reason), null);
    // One for each set of authorities, so that no session that others vouched for is taken up again.
    if (made?.ca !== reading.ca) {
      const { ca } = reading;
      made = { ca, connect: buildConnector({ timeout: timeoutMs, ...(ca === null ? {} : { ca }) }) };
    }
    made.connect(options, callback);
  };
}

/** Puts the engine's own key on every request in place of whatever came with it. Without the key that is asked for nothing is sent. */
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

/** Of a request that never began. */
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
