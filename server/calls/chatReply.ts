import type { AnswerEvidence } from "@/solver/gates/gates";

/** The content of an answer, in whatever form it arrived. */
export interface ChatReply {
  /** Tool calls follow the text, as JSON. */
  readonly text: string;
  /** As the address counts them; null: it does not. */
  readonly inputTokens: number | null;
  /** As the address counts them, else counted here: pieces of a stream, or a quarter of the characters. */
  readonly outputTokens: number;
  /** It ended at the token limit, as its server reports. */
  readonly cut: boolean;
  /** Tokens with their log probabilities; null: none are reported. */
  readonly tokens: AnswerEvidence["tokens"];
}

const CHARACTERS_PER_TOKEN = 4;

/** An index of a tool call is a stranger's number. */
const MOST_TOOL_CALLS = 200;

/** What came is no answer; the message repeats nothing of it. */
export class BrokenReply extends Error {}

interface ToolCall {
  name: string;
  arguments: string;
}

type Fields = Readonly<Record<string, unknown>>;

// Read by hand: a schema took most of the time of a thousand tokens a second.
const fieldsOf = (value: unknown): Fields | null => (typeof value === "object" && value !== null ? (value as Fields) : null);
const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const countOf = (value: unknown): number | null => (Number.isSafeInteger(value) && (value as number) >= 0 ? (value as number) : null);

/** Puts an answer together from one whole reply, or from the events of a stream. */
export class ChatReader {
  #text = "";
  #pieces = 0;
  #reasoned = 0;
  readonly #tools = new Map<number, ToolCall>();
  #inputTokens: number | null = null;
  #outputTokens: number | null = null;
  #heard = false;
  #cut = false;
  readonly #tokenTexts: string[] = [];
  readonly #logProbabilities: number[] = [];

  /**
   * Takes one JSON document.
   *
   * @returns whether something of the answer was in it.
   * @throws BrokenReply when it is no completion, or tells of an error.
   */
  take(json: string): boolean {
    const document = fieldsOf(parse(json));
    if (document === null) throw new BrokenReply("it is no chat completion");
    const { choices, usage, error } = document;
    if (error !== undefined && error !== null) throw new BrokenReply("it broke off with an error");
    const used = fieldsOf(usage);
    if (used !== null) {
      this.#inputTokens = countOf(used.prompt_tokens) ?? this.#inputTokens;
      this.#outputTokens = countOf(used.completion_tokens) ?? this.#outputTokens;
    }
    const first = fieldsOf(listOf(choices)[0]);
    if (first === null) return false;
    this.#heard = true;
    if (first.finish_reason === "length") this.#cut = true;
    this.#takeLogProbabilities(fieldsOf(first.logprobs));
    const said = fieldsOf(first.delta) ?? fieldsOf(first.message);
    return said !== null && this.#takeSaid(said);
  }

  /** @throws BrokenReply when no choice came at all. */
  reply(isStream: boolean): ChatReply {
    if (!this.#heard) throw new BrokenReply("it holds no answer");
    const tools = [...this.#tools].sort(([one], [other]) => one - other).map(([, tool]) => tool);
    const text = [this.#text, tools.length === 0 ? "" : JSON.stringify(tools)].filter((part) => part !== "").join("\n");
    const counted = isStream ? this.#pieces : Math.ceil((text.length + this.#reasoned) / CHARACTERS_PER_TOKEN);
    const reported = this.#logProbabilities;
    const tokens = reported.length === 0 ? null : { texts: this.#tokenTexts, logProbabilities: Float64Array.from(reported) };
    return { text, inputTokens: this.#inputTokens, outputTokens: this.#outputTokens ?? counted, cut: this.#cut, tokens };
  }

  #takeLogProbabilities(reported: Fields | null): void {
    for (const each of listOf(reported?.content)) {
      const { token, logprob } = fieldsOf(each) ?? {};
      if (typeof logprob !== "number") continue;
      this.#tokenTexts.push(textOf(token));
      this.#logProbabilities.push(logprob);
    }
  }

  #takeSaid(said: Fields): boolean {
    const words = textOf(said.content) || textOf(said.refusal);
    const reasoning = textOf(said.reasoning_content) || textOf(said.reasoning);
    const calls = listOf(said.tool_calls);
    this.#text += words;
    this.#reasoned += reasoning.length;
    for (const [at, call] of calls.entries()) this.#takeTool(fieldsOf(call) ?? {}, at);
    const isPiece = words !== "" || reasoning !== "" || calls.length > 0;
    if (isPiece) this.#pieces += 1;
    return isPiece;
  }

  #takeTool(call: Fields, at: number): void {
    const index = countOf(call.index) ?? at;
    if (index >= MOST_TOOL_CALLS) return;
    const called = fieldsOf(call.function) ?? {};
    const tool = this.#tools.get(index) ?? { name: "", arguments: "" };
    tool.name += textOf(called.name);
    tool.arguments += textOf(called.arguments);
    this.#tools.set(index, tool);
  }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new BrokenReply("it is no JSON");
  }
}
