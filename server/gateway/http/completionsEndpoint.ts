import { isRecord } from "@/solver/collections/isRecord";
import { answerTokens, type BodyRefusal, type Endpoint, eventStream, severalAnswers } from "./endpoint";
import { usageOf } from "./usage";

/** `/v1/completions`, the older endpoint that continues a text. */
export const completionsEndpoint: Endpoint = {
  path: "/v1/completions",
  enginePath: "/v1/completions",
  operation: "text_completion",
  answersIn: "choices",
  refusal: ({ prompt }) =>
    typeof prompt === "string" || (Array.isArray(prompt) && prompt.length > 0)
      ? null
      : { message: "`prompt` must be a text, or a list of texts or tokens.", param: "prompt" },
  text: {
    cascadeRefusal: (body) => severalAnswers(body) ?? unjudgeablePrompt(body),
    prompt: ({ prompt }) => (Array.isArray(prompt) ? prompt.join("\n") : String(prompt)),
    answer(completion) {
      const choice = isRecord(completion) && Array.isArray(completion.choices) ? completion.choices[0] : undefined;
      return isRecord(choice) && typeof choice.text === "string" ? choice.text : null;
    },
    // 1, not 0: some engines take 0 as none.
    tokenFields: ({ logprobs }) => (typeof logprobs === "number" ? null : { logprobs: 1 }),
    tokens(completion) {
      const choice = isRecord(completion) && Array.isArray(completion.choices) ? completion.choices[0] : undefined;
      const { tokens, token_logprobs: values } = isRecord(choice) && isRecord(choice.logprobs) ? choice.logprobs : {};
      if (!Array.isArray(tokens) || !Array.isArray(values)) return null;
      // With `echo` those of the prompt come before, of which the first has none.
      const { outputTokens } = usageOf(completion);
      const own = values[0] === null && outputTokens !== null && outputTokens > 0 ? outputTokens : values.length;
      return answerTokens(tokens.slice(-own), values.slice(-own));
    },
    // An event of this endpoint looks like a whole completion.
    events(completion, { includeUsage }) {
      const { usage, ...whole } = completion;
      return eventStream(includeUsage && usage ? [whole, { ...whole, choices: [], usage }] : [whole]);
    },
  },
};

function unjudgeablePrompt({ prompt }: Readonly<Record<string, unknown>>): BodyRefusal | null {
  if (!Array.isArray(prompt) || (prompt.length === 1 && typeof prompt[0] === "string")) return null;
  const what = prompt.every((entry) => typeof entry === "string") ? `a list of ${prompt.length} texts` : "a list of tokens";
  const message = `\`prompt\` is ${what}, but a cascade judges the answer to one text: give a text, or name an engine's model.`;
  return { message, param: "prompt" };
}

/** `/v1/embeddings`. */
export const embeddingsEndpoint: Endpoint = {
  path: "/v1/embeddings",
  enginePath: "/v1/embeddings",
  operation: "embeddings",
  answersIn: "data",
  refusal: ({ input }) =>
    typeof input === "string" || (Array.isArray(input) && input.length > 0)
      ? null
      : { message: "`input` must be a text, or a list of texts or tokens.", param: "input" },
  text: null,
};
