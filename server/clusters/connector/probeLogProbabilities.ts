import { askModel } from "@/server/calls/callScheduler";
import { createConnectionPool, type Upstream } from "@/server/calls/upstream";
import { timeLimit } from "@/server/lib/timeLimit";
import type { ObservedEngine } from "./connector";

/** For both requests of a probe together: an operator waits for it, and a busy engine gives a token within it. */
const PROBE_LIMIT_MS = 15_000;

/** One token of anything. */
const body = { messages: [{ role: "user", content: "Say yes." }], max_tokens: 1, temperature: 0 };

/**
 * Whether an engine reports log probabilities, by one request for one token. An engine that refuses it is asked once more without them: only
 * where it answers then was the refusal of them.
 *
 * @returns `unknown`: it gave no answer in time, or none that shows it.
 */
export async function probeLogProbabilities(
  { id, url, model, access: { key, caFile, servedName = model } = {} }: ObservedEngine,
  signal?: AbortSignal,
): Promise<"reports" | "silent" | "unknown"> {
  const connections = createConnectionPool(PROBE_LIMIT_MS);
  try {
    const upstream: Upstream = {
      ...{ id, engine: id, servedName, timeScale: 1 },
      url: `${url}/v1/chat/completions`,
      dispatcher: connections.to(url, { key, caFile }),
    };
    const limit = timeLimit(signal ?? new AbortController().signal, PROBE_LIMIT_MS);
    const ask = (logProbabilities: boolean) => askModel({ upstream, body, stream: false, logProbabilities, signal: limit });
    const asked = await ask(true);
    if (asked.kind === "answered") {
      if (asked.tokens !== null) return "reports";
      return asked.text === "" ? "unknown" : "silent";
    }
    if (asked.kind === "unreported") return "silent";
    if (asked.kind !== "refused") return "unknown";
    return (await ask(false)).kind === "answered" ? "silent" : "unknown";
  } finally {
    await connections.close();
  }
}
