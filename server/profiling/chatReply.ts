import { z } from "zod";

/** What an answer says, whichever way it came. */
export interface ChatReply {
  /** Tool calls follow the text, as JSON. */
  readonly text: string;
  /** As the address counts them; null: it does not. */
  readonly inputTokens: number | null;
  /** As the address counts them, else counted here: pieces of a stream, or a quarter of the characters. */
  readonly outputTokens: number;
}

const CHARACTERS_PER_TOKEN = 4;

const toolCallSchema = z.looseObject({
  index: z.int().nonnegative().nullish(),
  id: z.string().nullish(),
  function: z.looseObject({ name: z.string().nullish(), arguments: z.string().nullish() }).nullish(),
});
const saidSchema = z.looseObject({
  content: z.string().nullish(),
  refusal: z.string().nullish(),
  reasoning_content: z.string().nullish(),
  reasoning: z.string().nullish(),
  tool_calls: z.array(toolCallSchema).nullish(),
});
const usageSchema = z
  .looseObject({ prompt_tokens: z.int().nonnegative().nullish(), completion_tokens: z.int().nonnegative().nullish() })
  .nullish();
const choice = z.looseObject({ delta: saidSchema.nullish(), message: saidSchema.nullish() });
const replySchema = z.looseObject({ choices: z.array(choice).nullish(), usage: usageSchema, error: z.unknown() });

interface ToolCall {
  name: string;
  arguments: string;
}

/** What came is no answer; the message repeats nothing of it. */
export class BrokenReply extends Error {}

/** Puts an answer together from one whole reply, or from the events of a stream. */
export class ChatReader {
  #text = "";
  #pieces = 0;
  #reasoned = 0;
  readonly #tools: ToolCall[] = [];
  #usage: z.infer<typeof usageSchema> = null;
  #heard = false;

  /**
   * Takes one JSON document.
   *
   * @returns whether something of the answer was in it.
   * @throws BrokenReply when it is no completion, or tells of an error.
   */
  take(json: string): boolean {
    const parsed = replySchema.safeParse(parse(json));
    if (!parsed.success) throw new BrokenReply("it is no chat completion");
    const { choices, usage, error } = parsed.data;
    if (error !== undefined && error !== null) throw new BrokenReply("it broke off with an error");
    if (usage) this.#usage = usage;
    const [first] = choices ?? [];
    if (first !== undefined) this.#heard = true;
    const said = first?.delta ?? first?.message;
    if (!said) return false;
    const { content, refusal, tool_calls: calls } = said;
    const words = content || refusal || "";
    const reasoning = said.reasoning_content || said.reasoning || "";
    this.#text += words;
    this.#reasoned += reasoning.length;
    for (const [at, call] of (calls ?? []).entries()) this.#takeTool(call, first?.delta ? (call.index ?? at) : at);
    const isPiece = words !== "" || reasoning !== "" || (calls ?? []).length > 0;
    if (isPiece) this.#pieces += 1;
    return isPiece;
  }

  /** @throws BrokenReply when no choice came at all. */
  reply(isStream: boolean): ChatReply {
    if (!this.#heard) throw new BrokenReply("it holds no answer");
    const tools = this.#tools.filter((tool) => tool !== undefined);
    const calls = tools.length === 0 ? "" : JSON.stringify(tools);
    const text = [this.#text, calls].filter((part) => part !== "").join("\n");
    const counted = isStream ? this.#pieces : Math.ceil((text.length + this.#reasoned) / CHARACTERS_PER_TOKEN);
    return { text, inputTokens: this.#usage?.prompt_tokens ?? null, outputTokens: this.#usage?.completion_tokens ?? counted };
  }

  #takeTool({ function: called }: z.infer<typeof toolCallSchema>, at: number): void {
    // An index is a stranger's number.
    if (at > 200) return;
    this.#tools[at] ??= { name: "", arguments: "" };
    const tool = this.#tools[at];
    tool.name += called?.name ?? "";
    tool.arguments += called?.arguments ?? "";
  }
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    throw new BrokenReply("it is no JSON");
  }
}

/** Cuts a stream of server-sent events into the data of each; what is not whole yet waits for the next piece. */
export class EventCutter {
  #rest = "";

  cut(piece: string): readonly string[] {
    const lines = (this.#rest + piece).split(/\r?\n/);
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => (line.startsWith("data:") ? [line.slice(5).trim()] : []));
  }
}
