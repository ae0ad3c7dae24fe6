import { isRecord } from "@/solver/collections/isRecord";
import type { Json } from "../http/endpoint";

/** What one chunk of a stream of chat completions adds, or what a whole completion says. Only the first choice counts. */
export interface ChatDelta {
  readonly model: string | null;
  readonly createdSeconds: number | null;
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly CallDelta[];
  /** Null while the choice is not finished. */
  readonly finish: string | null;
  /** The stop sequence that ended it, where the engine says which one. */
  readonly stopSequence: string | null;
  readonly usage: ChatUsage | null;
}

/** What a chunk adds to one tool call. */
export interface CallDelta {
  readonly index: number;
  /** Null after the call's first chunk. */
  readonly id: string | null;
  readonly name: string | null;
  readonly arguments: string;
}

/** Tokens as the engine counts them. */
export interface ChatUsage {
  readonly input: number;
  /** Of these, read from the engine's cache. */
  readonly cached: number;
  readonly output: number;
  /** Of these, for reasoning. */
  readonly reasoning: number;
}

/** Reads a chunk, whose choice has a `delta`, or a completion, whose choice has a `message`. */
export function chatDelta({ model, created, choices, usage }: Json): ChatDelta {
  const choice = (Array.isArray(choices) ? choices.find((one) => isRecord(one) && (one.index ?? 0) === 0) : undefined) ?? {};
  const said = isRecord(choice.delta) ? choice.delta : isRecord(choice.message) ? choice.message : {};
  return {
    model: textOrNull(model),
    createdSeconds: typeof created === "number" ? created : null,
    // vLLM names it `reasoning`, SGLang, llama.cpp and older vLLM `reasoning_content`; some send both.
    reasoning: textOf(said.reasoning) || textOf(said.reasoning_content),
    text: contentText(said.content) || textOf(said.refusal),
    calls: Array.isArray(said.tool_calls) ? said.tool_calls.filter(isRecord).map(callDelta) : [],
    finish: textOrNull(choice.finish_reason),
    // vLLM's field, then SGLang's; both have a token's number where no text matched.
    stopSequence: textOrNull(choice.stop_reason) ?? textOrNull(choice.matched_stop),
    usage: isRecord(usage) ? usageOf(usage) : null,
  };
}

function callDelta({ index, id, function: called }: Json, position: number): CallDelta {
  const { name, arguments: text } = isRecord(called) ? called : {};
  return { index: typeof index === "number" ? index : position, id: textOrNull(id), name: textOrNull(name), arguments: textOf(text) };
}

function usageOf({
  prompt_tokens: input,
  completion_tokens: output,
  prompt_tokens_details: ofInput,
  completion_tokens_details: ofOutput,
}: Json): ChatUsage {
  return {
    input: count(input),
    cached: isRecord(ofInput) ? count(ofInput.cached_tokens) : 0,
    output: count(output),
    reasoning: isRecord(ofOutput) ? count(ofOutput.reasoning_tokens) : 0,
  };
}

/** Engines may answer a list of parts. */
function contentText(content: unknown): string {
  if (!Array.isArray(content)) return textOf(content);
  return content.map((part) => (isRecord(part) ? textOf(part.text) : "")).join("");
}

const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const textOrNull = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null);
const count = (value: unknown): number => (typeof value === "number" && Number.isSafeInteger(value) && value >= 0 ? value : 0);
