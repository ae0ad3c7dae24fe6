import type { WholeReply } from "./stageOutcome";

/** A provider that does not say when it may be asked again. */
const unsaidMs = 1_000;
const mostMs = 86_400_000;

/** For how long an engine asks not to be called, in milliseconds; a second if it does not say. @param nowMs Unix milliseconds. */
export function pauseMs({ retry = {} }: Pick<WholeReply, "retry">, nowMs = Date.now()): number {
  const exact = Number(retry["retry-after-ms"]);
  if (exact > 0) return Math.min(mostMs, exact);
  const text = retry["retry-after"];
  if (text === undefined) return unsaidMs;
  const asked = Number.isNaN(Number(text)) ? Date.parse(text) - nowMs : Number(text) * 1000;
  return asked > 0 ? Math.min(mostMs, asked) : unsaidMs;
}
