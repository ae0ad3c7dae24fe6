import { setMaxListeners } from "node:events";

/**
 * A signal that fires when `signal` does, with its reason, or after `limitMs` as `AbortSignal.timeout` does. Not `AbortSignal.any` over that:
 * in Node 20 a timeout that nothing else holds is collected as garbage, never fires, and what waits for it waits for ever.
 */
export function timeLimit(signal: AbortSignal | undefined, limitMs: number): AbortSignal {
  if (signal?.aborted) return signal;
  const controller = new AbortController();
  const end = (reason: unknown): void => {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    controller.abort(reason);
  };
  const onAbort = (): void => end(signal?.reason);
  const timer = setTimeout(() => end(new DOMException("The operation was aborted due to timeout", "TimeoutError")), limitMs);
  timer.unref();
  if (signal !== undefined) {
    // What is asked again and again under one signal listens each time until its own limit has passed.
    setMaxListeners(0, signal);
    signal.addEventListener("abort", onAbort, { once: true });
  }
  return controller.signal;
}
