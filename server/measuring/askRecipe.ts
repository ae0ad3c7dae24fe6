import { randomInt } from "node:crypto";
import type { Dispatcher } from "undici";
import type { MeasuredTarget } from "./measuredTarget";
import { type StreamedAnswer, streamAnswer } from "./streamAnswer";

/** How requests of given lengths are written for an engine. */
export interface AskRecipe {
  readonly path: "/v1/completions" | "/v1/chat/completions";
  /** Whether prompts are token ids, so that their length is exact. */
  readonly exact: boolean;
  /** A body with a random prompt of so many tokens, which no prefix cache knows, and an answer of so many. */
  body(inputTokens: number, outputTokens: number): string;
}

/** Ids that every vocabulary of at least a hundred entries has, the special ones at its beginning left out. */
const FIRST_ID = 10;
const LAST_ID = 90;

/** Lengths of the two prompts that tell how many tokens a word takes. */
const SHORT_WORDS = 20;
const LONG_WORDS = 60;

export type FindRecipe =
  | { readonly kind: "found"; readonly recipe: AskRecipe; readonly tokens: number }
  | { readonly kind: "refused"; readonly reason: "no-completion" | "no-usage"; readonly message: string }
  /** Its signal fired. */
  | { readonly kind: "stopped" };

/** Tokens of the answers that tell how an engine is asked. */
const SHORT_ANSWER = 4;

/**
 * Finds out how an engine is asked for lengths: by token ids where it takes them, else by text, with words for tokens as its own count
 * says, under completions or chat. Sends a few short requests; `tokens` are theirs, as the engine counts them where it does.
 */
export async function findRecipe(target: MeasuredTarget, model: string, agent: Dispatcher, signal: AbortSignal): Promise<FindRecipe> {
  let tokens = 0;
  const ask = async (recipe: AskRecipe, inputTokens: number): Promise<StreamedAnswer> => {
    const answer = await streamAnswer({ url: target.url + recipe.path, body: recipe.body(inputTokens, SHORT_ANSWER), agent, signal });
    const counted = answer.kind === "answered" ? answer : { inputTokens: null, outputTokens: null };
    tokens += (counted.inputTokens ?? inputTokens) + (counted.outputTokens ?? SHORT_ANSWER);
    return answer;
  };
  const ids = recipeOf(model, "/v1/completions", { exact: true, prompt: randomIds });
  const first = await ask(ids, 32);
  if (first.kind === "answered" && first.inputTokens !== null && first.outputTokens !== null && Math.abs(first.inputTokens - 32) <= 1)
    return { kind: "found", recipe: ids, tokens };
  let failure = first;
  for (const path of ["/v1/completions", "/v1/chat/completions"] as const) {
    const words = recipeOf(model, path, { exact: false, prompt: (count) => randomWords(count) });
    const [short, long] = [await ask(words, SHORT_WORDS), await ask(words, LONG_WORDS)];
    if (short.kind === "failed") failure = short;
    if (short.kind !== "answered" || long.kind !== "answered") continue;
    const [a, b] = [short.inputTokens, long.inputTokens];
    if (a === null || b === null || long.outputTokens === null)
      return {
        kind: "refused",
        reason: "no-usage",
        message: `${target.url} does not report the tokens of a streamed answer (stream_options.include_usage), so its speed cannot be measured.`,
      };
    const tokensPerWord = Math.max(0.1, (b - a) / (LONG_WORDS - SHORT_WORDS));
    const frame = a - tokensPerWord * SHORT_WORDS;
    const wordsFor = (tokens: number): string => randomWords(Math.max(1, Math.round((tokens - frame) / tokensPerWord)));
    return { kind: "found", recipe: recipeOf(model, path, { exact: false, prompt: wordsFor }), tokens };
  }
  if (signal.aborted) return { kind: "stopped" };
  const why = failure.kind === "failed" ? failure.message : "it does not stream an answer";
  return { kind: "refused", reason: "no-completion", message: `${target.url} does not answer a completion: ${why}.` };
}

function recipeOf(
  model: string,
  path: AskRecipe["path"],
  { exact, prompt }: { readonly exact: boolean; readonly prompt: (tokens: number) => string | readonly number[] },
): AskRecipe {
  return {
    path,
    exact,
    body(inputTokens, outputTokens) {
      const text = prompt(inputTokens);
      const asked = path === "/v1/completions" ? { prompt: text } : { messages: [{ role: "user", content: text }] };
      const lengths = { max_tokens: outputTokens, min_tokens: outputTokens, ignore_eos: true };
      return JSON.stringify({ model, ...asked, ...lengths, temperature: 0, stream: true, stream_options: { include_usage: true } });
    },
  };
}

const randomIds = (count: number): readonly number[] => Array.from({ length: count }, () => randomInt(FIRST_ID, LAST_ID));

const WORDS =
  "water basin edge river stone level field cloud paper north light green house seven table green wheel metal under above".split(" ");
const randomWords = (count: number): string => Array.from({ length: count }, () => WORDS[randomInt(WORDS.length)]).join(" ");
