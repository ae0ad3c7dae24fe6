import type { ObservedCall } from "../learning/observedCall";

/** A call of a test's program, dispatched at its arrival unless specified otherwise. */
export function testCall(
  call: Partial<ObservedCall> & { readonly agent: string; readonly arrivedSeconds: number; readonly finishedSeconds: number },
): ObservedCall {
  return {
    id: `${call.agent}@${call.arrivedSeconds}`,
    programId: "program",
    application: "app",
    upstream: [],
    model: "model",
    dispatchedSeconds: call.arrivedSeconds,
    inputTokens: 10,
    outputTokens: 10,
    failed: false,
    ...call,
  };
}
