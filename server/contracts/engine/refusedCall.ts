import type { Dispatcher } from "undici";

/** Ends a call before anything is sent. @returns what a dispatcher returns. */
export function refuseCall(handler: Dispatcher.DispatchHandler, error: Error): boolean {
  handler.onResponseError?.(unsentRequest, error);
  return true;
}

/** The controller of a request that is never sent. */
export const unsentRequest: Dispatcher.DispatchController = {
  aborted: true,
  paused: false,
  reason: null,
  rawHeaders: null,
  rawTrailers: null,
  abort() {},
  pause() {},
  resume() {},
};
