import type { GatewayOptions } from "../gateway";
import { sayCompletion, startTestEngine } from "./testEngine";
import { startTestGateway, testConfig } from "./testGateway";

/** A model whose only engine answers with an error. */
const BROKEN = "broken";
/** How often each kind of request is sent. */
const ROUNDS = 4;

const prices = { usdPerMillionInputTokens: 1, usdPerMillionOutputTokens: 2 };

/** The engines of a small and of a large model, emulated. */
interface EmulatedStages {
  readonly stages: readonly { readonly model: string; readonly url: string }[];
  readonly timeScale: number;
}

/**
 * A gateway over a judged cascade of emulated engines; its judge accepts the answer to the prompt `short` alone. A third model has an
 * engine that fails.
 */
export async function startLoadedCascade({ stages, timeScale }: EmulatedStages, given: Partial<GatewayOptions> = {}) {
  const [small = "", large = ""] = stages.map(({ model }) => model);
  const prompts: string[] = [];
  const judge = await startTestEngine(({ body }, response) => {
    const text = JSON.stringify(body);
    prompts.push(text);
    sayCompletion(response, text.includes("[prompt short]") ? "90" : "10", "weir-judge");
  });
  const broken = await startTestEngine((_, response) => response.writeHead(500).end());
  const gateway = await startTestGateway({}, given);
  const settings = { prices: { [small]: prices, [large]: prices } };
  const served = stages.map(({ model, url }) => ({ model, urls: [url] }));
  const config = testConfig({ stages: served, thresholds: [50], judgeUrl: judge.url, settings });
  const failing = { id: "broken-0", model: BROKEN, url: broken.url, state: "active" as const, maxInFlight: 8 };
  await gateway.put({ ...config, replicas: [...config.replicas, failing], timeScale });

  const ask = (prompt: string, more: Record<string, unknown> = {}) =>
    gateway.chat({ messages: [{ role: "user", content: prompt }], ...more });
  const whole = async (answer: Promise<Response>): Promise<void> => void (await (await answer).text());

  /** Reads the first bytes of a stream and leaves. */
  async function leave(prompt: string): Promise<void> {
    const abort = new AbortController();
    const body = { model: large, stream: true, messages: [{ role: "user", content: prompt }] };
    const answer = await gateway.chat(body, { signal: abort.signal });
    await answer.body?.getReader().read();
    abort.abort();
  }

  return {
    gateway,
    metrics: async () => (await fetch(`${gateway.adminUrl}/metrics`)).text(),
    /** Every prompt and answer that the judge saw, as one text. */
    asked: () => prompts.join(),
    /**
     * Sends accepted, escalated, streamed, failing, unserved and aborted requests, all at once.
     * @param marker a word in each prompt.
     * @returns how many were sent.
     */
    async sendLoad(marker: string): Promise<number> {
      const [short, long] = [`[prompt short] ${marker}`, `[prompt long] ${marker}`];
      const usage = { stream: true, stream_options: { include_usage: true } };
      const sampling = { temperature: 0.7, top_p: 0.9, seed: 11, max_tokens: 30, stop: ["END"] };
      const kinds: readonly (() => Promise<void>)[] = [
        () => whole(ask(short)),
        () => whole(ask(short, sampling)),
        () => whole(ask(long)),
        () => whole(ask(short, usage)),
        () => whole(ask(short, { model: large, ...usage })),
        () => whole(ask(short, { model: BROKEN })),
        () => whole(ask(short, { model: "nobody" })),
        () => whole(gateway.post("/v1/completions", { model: small, prompt: short, max_tokens: 10 })),
        () => leave(long),
      ];
      await Promise.all(Array.from({ length: ROUNDS }, () => kinds.map((send) => send())).flat());
      return ROUNDS * kinds.length;
    },
  };
}
