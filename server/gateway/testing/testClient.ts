import OpenAI from "openai";
import { onTestFinished, vi } from "vitest";

/** The official client of OpenAI in front of a gateway, with its default number of retries. */
export interface TestClient {
  readonly client: OpenAI;
  /** The status of each answer that it got. */
  readonly statuses: readonly number[];
  /** The milliseconds for which it would have slept before each retry; it does not sleep. */
  readonly slept: readonly number[];
}

/**
 * One client a test: it replaces `setTimeout` for the sleeps of all clients.
 * @param onSleep awaited in place of each sleep.
 */
export function testClient(dataUrl: string, onSleep: () => unknown = () => undefined): TestClient {
  const statuses: number[] = [];
  const slept: number[] = [];
  const realSetTimeout = globalThis.setTimeout;
  const timers = vi.spyOn(globalThis, "setTimeout").mockImplementation(((run: () => void, ms?: number, ...rest: unknown[]) => {
    if (!new Error().stack?.includes("openai/internal/utils/sleep")) return realSetTimeout(run, ms, ...rest);
    slept.push(ms ?? 0);
    return realSetTimeout(() => void Promise.resolve(onSleep()).then(run), 0);
  }) as typeof setTimeout);
  onTestFinished(() => timers.mockRestore());
  const client = new OpenAI({
    baseURL: `${dataUrl}/v1`,
    apiKey: "none",
    fetch: async (url, init) => {
      const answer = await fetch(url, init);
      statuses.push(answer.status);
      return answer;
    },
  });
  return { client, statuses, slept };
}
