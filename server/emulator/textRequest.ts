import { type Body, bodyFaultOf, commonFaults, commonFields, type Parsed, refusal } from "./generationFields";
import type { PromptText } from "./generationRequest";
import { fieldError } from "./pydanticError";
import { fieldFaults, integer, truthy } from "./requestFields";
import { answerForm } from "./structuredAnswer";

const kinds = { logprobs: "integer", suffix: "string" } as const;

/** vLLM's, and OpenAI's, where a request names none. */
const DEFAULT_MAX_TOKENS = 16;

/** Reads a request of the older endpoint, as text or token ids; a bad field is refused as vLLM does. */
export function parseTextRequest(body: Body): Parsed {
  const { prompt, max_tokens, logprobs, suffix, echo } = body;
  if (prompt === undefined || prompt === null || prompt === "")
    return { ok: false, error: refusal("Either prompt or prompt_embeds must be provided and non-empty.", "prompt") };
  const fault = bodyFaultOf(body);
  if (fault !== null) return { ok: false, error: fault };
  const prompts = promptsOf(prompt);
  const issues = [...commonFaults(body), ...fieldFaults(body, kinds)];
  if (prompts === null)
    issues.unshift({ type: "string_type", loc: ["body", "prompt"], msg: "Input should be a valid string", input: prompt });
  if (issues.length > 0 || prompts === null) return { ok: false, error: fieldError(issues) };
  if (typeof suffix === "string" && suffix !== "") {
    return {
      ok: false,
      error: {
        status: 400,
        type: "BadRequestError",
        message: "suffix is only supported for models with FIM completion rendering",
        param: "suffix",
      },
    };
  }
  const formed = answerForm(body);
  if (!formed.ok) return formed;
  const common = commonFields(body);
  const wanted = integer(logprobs, null);
  const echoes = truthy(echo);
  return {
    ok: true,
    request: {
      endpoint: "text",
      ...common,
      prompts,
      maxTokens: integer(max_tokens, DEFAULT_MAX_TOKENS),
      logprobs: wanted,
      promptLogprobs: common.promptLogprobs ?? (echoes ? wanted : null),
      echo: echoes,
      hasTools: false,
      call: null,
      form: formed.form,
    },
  };
}

const isIds = (value: unknown): value is readonly number[] =>
  Array.isArray(value) && value.length > 0 && value.every((one) => Number.isInteger(one) && one >= 0);

const ofIds = (ids: readonly number[]): PromptText => ({ text: "", tokens: ids.length });
const ofText = (text: string): PromptText => ({ text, tokens: null });

/** A text, a list of texts, token ids, or a list of these; null: none of them. */
function promptsOf(prompt: unknown): readonly PromptText[] | null {
  if (typeof prompt === "string") return [ofText(prompt)];
  if (isIds(prompt)) return [ofIds(prompt)];
  if (!Array.isArray(prompt) || prompt.length === 0) return null;
  if (prompt.every((one) => typeof one === "string")) return prompt.map(ofText);
  return prompt.every(isIds) ? prompt.map(ofIds) : null;
}
