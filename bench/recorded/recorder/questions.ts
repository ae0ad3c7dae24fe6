import type { Question } from "./recordExchange";

const chatPath = "/v1/chat/completions";
const textPath = "/v1/completions";

/** A tool whose argument has two values, so that a model that was not trained on tools completes a call in a few tokens. */
const tools = [
  {
    type: "function",
    function: {
      name: "add",
      description: "Adds.",
      parameters: {
        type: "object",
        properties: { way: { type: "string", enum: ["up", "down"] } },
        required: ["way"],
        additionalProperties: false,
      },
    },
  },
];

/**
 * The requests of a recording: what clients send, and what an engine refuses.
 * @param model the served name.
 * @param contextTokens the engine's longest context.
 */
export function questionsFor(model: string, contextTokens: number): readonly Question[] {
  const messages = [{ role: "user", content: "12+34" }];
  const chat = { model, messages, temperature: 0, max_tokens: 12 };
  const text = { model, prompt: "12+34\n", temperature: 0, max_tokens: 12 };
  const named = { type: "function", function: { name: "add" } };
  const long = "1".repeat(contextTokens + 10);
  const open = { ignore_eos: true, max_tokens: 24 };
  const ask =
    (path: string) =>
    (name: string, body: unknown, more: Partial<Question> = {}): Question => ({ name, path, body, ...more });
  const chats = ask(chatPath);
  const texts = ask(textPath);
  const get = (name: string, path: string): Question => ({ name, path });
  return [
    get("models", "/v1/models"),
    get("version", "/version"),
    get("health", "/health"),
    get("load", "/load"),
    get("ping", "/ping"),
    get("settings outside of development mode", "/server_info?config_format=json"),
    get("unknown path", "/v1/nothing"),
    get("wrong method", chatPath),

    ask("/tokenize")("tokenize a prompt", { model, prompt: "12+34" }),
    ask("/tokenize")("tokenize messages", { model, messages }),
    ask("/tokenize")("tokenize with texts", { model, prompt: "12+34", return_token_strs: true }),
    ask("/tokenize")("tokenize without a prompt", { model }),
    ask("/detokenize")("detokenize", { model, tokens: [20, 21] }),

    chats("chat", chat),
    chats("chat cut by max_tokens", { ...chat, ...open }),
    chats("chat ended by a stop text", { ...chat, ...open, stop: ["5"] }),
    chats("chat of two choices", { ...chat, n: 2, temperature: 1, seed: 3 }),
    chats("chat with log probabilities", { ...chat, logprobs: true, top_logprobs: 2 }),
    chats("chat with log probabilities of no others", { ...chat, logprobs: true }),
    chats("chat with log probabilities of the prompt", { ...chat, prompt_logprobs: 1 }),
    chats("chat with token ids", { ...chat, return_token_ids: true }),
    chats("chat with an unknown field", { ...chat, flavour: "mint" }),
    chats("chat with a priority", { ...chat, priority: 5 }),
    chats("chat in parts", { ...chat, messages: [{ role: "user", content: [{ type: "text", text: "12+34" }] }] }),
    chats("chat without a limit", { model, messages, temperature: 0 }),
    chats("chat stream", { ...chat, stream: true }),
    chats("chat stream with usage", { ...chat, stream: true, stream_options: { include_usage: true } }),
    chats("chat stream with running usage", {
      ...chat,
      stream: true,
      stream_options: { include_usage: true, continuous_usage_stats: true },
    }),
    chats("chat stream cut by max_tokens", { ...chat, ...open, stream: true }),
    chats("chat stream ended by a stop text", { ...chat, ...open, stop: ["5"], stream: true }),
    chats("chat stream of two choices", { ...chat, n: 2, temperature: 1, seed: 3, stream: true }),
    chats("chat stream with log probabilities", { ...chat, logprobs: true, top_logprobs: 2, stream: true }),
    chats("chat stream with token ids", { ...chat, return_token_ids: true, stream: true }),
    chats("chat with a tool it may call", { ...chat, tools, tool_choice: "auto" }),
    chats("chat with a tool it must call", { ...chat, max_tokens: 120, tools, tool_choice: named }),
    chats("chat with a call required", { ...chat, max_tokens: 120, tools, tool_choice: "required" }),
    chats("chat stream with a tool it must call", { ...chat, max_tokens: 120, tools, tool_choice: named, stream: true }),
    chats("chat stream with a call required", { ...chat, max_tokens: 120, tools, tool_choice: "required", stream: true }),

    texts("text", text),
    texts("text of two prompts", { ...text, prompt: ["12+34\n", "56-21\n"] }),
    texts("text of token ids", { ...text, prompt: [0, 20, 21, 14, 22, 98] }),
    texts("text with log probabilities", { ...text, logprobs: 2 }),
    texts("text with echo", { ...text, echo: true }),
    texts("text with echo and log probabilities", { ...text, echo: true, logprobs: 1, max_tokens: 1 }),
    texts("text with echo and nothing generated", { ...text, echo: true, logprobs: 1, max_tokens: 0 }),
    texts("text with log probabilities of the prompt", { ...text, prompt_logprobs: 1, max_tokens: 1 }),
    texts("text ended by a stop text", { ...text, ...open, stop: ["5"] }),
    texts("text stream", { ...text, stream: true }),
    texts("text stream with usage", { ...text, stream: true, stream_options: { include_usage: true } }),
    texts("text stream with log probabilities", { ...text, logprobs: 2, stream: true }),
    texts("text stream of two choices", { ...text, n: 2, temperature: 1, seed: 3, stream: true }),

    ask("/v1/responses")("response", { model, input: "12+34", temperature: 0, max_output_tokens: 12 }),
    ask("/v1/responses")("response stream", { model, input: "12+34", temperature: 0, max_output_tokens: 12, stream: true }),
    ask("/v1/messages")("message", { model, messages, max_tokens: 12, temperature: 0 }),
    ask("/v1/messages")("message stream", { model, messages, max_tokens: 12, temperature: 0, stream: true }),
    ask("/v1/embeddings")("embeddings of a model that generates", { model, input: "12" }),

    chats("unknown model", { ...chat, model: "gpt" }),
    texts("text of an unknown model", { ...text, model: "gpt" }),
    chats("no model", { messages, max_tokens: 12 }),
    chats("prompt longer than the context", { ...chat, messages: [{ role: "user", content: long }] }),
    texts("text longer than the context", { ...text, prompt: long }),
    chats("max_tokens longer than the context", { ...chat, max_tokens: contextTokens + 1 }),
    chats("bad JSON", '{"model": "x", '),
    chats("no body", ""),
    chats("body of a list", []),
    chats("body of another type", "model=x", { headers: { "content-type": "text/plain" } }),
    chats("no messages", { model }),
    chats("empty messages", { model, messages: [] }),
    chats("messages of the wrong type", { model, messages: "12+34" }),
    chats("message without a role", { model, messages: [{ content: "12+34" }] }),
    chats("unknown role", { ...chat, messages: [{ role: "alien", content: "12+34" }] }),
    chats("temperature of the wrong type", { ...chat, temperature: "hot" }),
    chats("negative temperature", { ...chat, temperature: -1 }),
    chats("top_p above one", { ...chat, top_p: 2 }),
    chats("negative max_tokens", { ...chat, max_tokens: -1 }),
    chats("max_tokens of nothing", { ...chat, max_tokens: 0 }),
    chats("max_tokens of the wrong type", { ...chat, max_tokens: "many" }),
    texts("negative max_tokens of a text", { ...text, max_tokens: -1 }),
    chats("no choices", { ...chat, n: 0 }),
    chats("too many log probabilities", { ...chat, logprobs: true, top_logprobs: 50 }),
    chats("top_logprobs without logprobs", { ...chat, top_logprobs: 2 }),
    texts("too many log probabilities of a text", { ...text, logprobs: 50 }),
    chats("stream options without a stream", { ...chat, stream_options: { include_usage: true } }),
    chats("priority of the wrong type", { ...chat, priority: "high" }),
    chats("a choice of tools without tools", { ...chat, tool_choice: "required" }),
    chats("an unknown tool", { ...chat, tools, tool_choice: { type: "function", function: { name: "other" } } }),
    texts("text with a suffix", { ...text, suffix: "." }),
    texts("text without a prompt", { model }),
    texts("text of an empty prompt", { ...text, prompt: "" }),
    chats("log probabilities of the prompt in a stream", { ...chat, prompt_logprobs: 1, stream: true }),
    chats("chat stream that the client leaves", { ...chat, ...open, max_tokens: 100, stream: true }, { leaveAfter: 4 }),
  ];
}
