import { askEndpoint } from "@/server/engineClient/askEndpoint";
import { checkEndpoint } from "@/server/engineClient/checkEndpoint";
import { measureToken } from "@/server/engineClient/measureToken";
import { timeLimit } from "@/server/lib/timeLimit";
import type { ObservedEngine } from "./connector";
import type { Look } from "./waitUntil";

/** Engines under load answer late. */
const checkLimitMs = 15_000;

/** An engine that answers its health check takes no longer than this for one token, even when busy. */
const tokenLimitMs = 30_000;

/**
 * Whether an engine can be given requests for a model, checked with the gateway's own requests: it is healthy, it lists the model under its
 * own name for it, and it generates one token. Engines have been observed to pass each single check and then fail their first request.
 */
export async function verifyEngine({ id, url, access }: ObservedEngine, model: string, signal: AbortSignal): Promise<Look> {
  const servedName = access?.servedName ?? model;
  const target = { name: id, url, ...access, servedName };
  const time = timeLimit(signal, checkLimitMs);
  const { findings } = await checkEndpoint(target, (path) => askEndpoint({ target, path, signal: time }));
  signal.throwIfAborted();
  const failure = findings.find(({ level }) => level === "failed");
  if (failure !== undefined) return { waiting: failure.sentence };
  const { finding, ttftSeconds } = await measureToken(target, servedName, timeLimit(signal, tokenLimitMs));
  signal.throwIfAborted();
  if (ttftSeconds === null) return { waiting: finding.sentence };
  return { holds: `healthy, model listed, one token in ${Math.round(ttftSeconds * 1000)} ms` };
}
