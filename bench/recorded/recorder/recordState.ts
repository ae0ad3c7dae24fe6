import { setTimeout as wait } from "node:timers/promises";
import { type Question, recordExchange } from "./recordExchange";
import { type ExchangeRecording, recordExchanges } from "./recordExchanges";

/** The pages at which engines say what they are and do. */
const PAGES = ["/health", "/v1/models", "/version", "/server_info", "/info", "/props", "/slots", "/metrics"].concat([
  ...["/lora-adapters", "/api/version", "/api/tags", "/api/ps"],
]);

/** Requests that are open while the pages of a busy engine are read, and the time until they run. */
const BUSY = { requests: 12, tokens: 300, afterMs: 1_500 };

/** How to ask an engine in one state. */
export interface StateQuestions {
  readonly key?: string;
  /** Sends this served model a few requests: answers, streams and refusals. */
  readonly model?: string;
  /** An adapter of it, which is asked too. */
  readonly adapter?: string;
  /** Reads the pages while requests to `model` are open, and sends no others. */
  readonly isBusy?: boolean;
}

/**
 * Records one state of an engine of any kind: idle, busy, loading, asleep, or without a key.
 * @throws if the engine cannot be reached.
 */
export async function recordState(recording: Omit<ExchangeRecording, "questions">, state: StateQuestions) {
  const { key, model, isBusy = false } = state;
  const headers = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const body = (seed: number) => ({ model, prompt: `${seed}+1=`, max_tokens: BUSY.tokens, ignore_eos: true });
  const open = Array.from({ length: isBusy ? BUSY.requests : 0 }, (_, seed) =>
    recordExchange(recording.url, { name: `load ${seed}`, path: "/v1/completions", body: body(seed), headers }),
  );
  if (isBusy) await wait(BUSY.afterMs);
  const requests = model === undefined || isBusy ? [] : requestsTo(model, state.adapter);
  const pages = PAGES.map((path): Question => ({ name: path, path }));
  const questions = [...pages, ...requests].map((question) => ({ ...question, headers }));
  const recorded = await recordExchanges({ ...recording, questions });
  await Promise.all(open);
  return recorded;
}

function requestsTo(model: string, adapter: string | undefined): readonly Question[] {
  const messages = [{ role: "user", content: "12+30=" }];
  const chat = { model, messages, max_tokens: 8, temperature: 0 };
  const chats = (name: string, body: unknown): Question => ({ name, path: "/v1/chat/completions", body });
  return [
    chats("chat", { ...chat, logprobs: true, top_logprobs: 2 }),
    chats("stream", { ...chat, stream: true, stream_options: { include_usage: true } }),
    { name: "completion", path: "/v1/completions", body: { model, prompt: "12+30=", max_tokens: 4, temperature: 0, logprobs: 1 } },
    chats("unknown model", { ...chat, model: "not-there" }),
    chats("too long", { ...chat, messages: [{ role: "user", content: "1+".repeat(1500) }] }),
    chats("broken body", '{"model":'),
    chats("wrong type", { ...chat, messages: "12+30=" }),
    ...(adapter === undefined ? [] : [chats("adapter", { ...chat, model: adapter })]),
  ];
}
