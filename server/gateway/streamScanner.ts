import { isRecord } from "./isRecord";
import { noUsage, type Usage, usageOf } from "./usage";

const end = "data: [DONE]";
/** Of an engine's message, in records and errors. */
const shownCharacters = 300;

/** Of one event, which must be held until its end has come. */
const longestEvent = 8 * 1024 * 1024;
/** Why a stream with a longer one has failed. */
export const overlong = `one event of its stream is longer than ${longestEvent} characters`;

/** Neither can stand inside a JSON string, where quotes are escaped. */
const worthParsing = /"usage": ?\{|"error": ?[^n ]/;

/**
 * Reads along in an engine's event stream without changing it: when the first token came, whether the engine reported an
 * error, and the usage at the end. After the first token only events that carry usage or an error are parsed.
 */
export class StreamScanner {
  #rest = "";
  readonly #decoder = new TextDecoder();
  sawToken = false;
  /** The engine's own message when it sent an error event. */
  error: string | null = null;
  usage: Usage = noUsage;
  #ended = false;

  /** Whether the stream said that it is whole. */
  get ended(): boolean {
    return this.#ended || this.#rest.trimEnd() === end;
  }

  /** Whether an event came that is longer than any is read. */
  get overlong(): boolean {
    return this.#rest.length > longestEvent;
  }

  feed(chunk: Buffer): void {
    const text = this.#rest + this.#decoder.decode(chunk, { stream: true });
    const lines = text.split("\n");
    this.#rest = lines.pop() ?? "";
    for (const line of lines) this.#line(line);
  }

  #line(line: string): void {
    if (!line.startsWith("data:")) return;
    if (line.trimEnd() === end) this.#ended = true;
    if (this.sawToken && !worthParsing.test(line)) return;
    const event = parse(line.slice("data:".length));
    if (!isRecord(event)) return;
    if (event.error !== undefined && event.error !== null) {
      const { message } = isRecord(event.error) ? event.error : {};
      this.error = typeof message === "string" ? message.slice(0, shownCharacters) : "the engine reported an error";
    }
    if (isRecord(event.usage)) this.usage = usageOf(event);
    if (Array.isArray(event.choices) && event.choices.some(carriesToken)) this.sawToken = true;
  }
}

/** Text, a delta with anything but a role and empty text, or the end of a choice. */
function carriesToken(choice: unknown): boolean {
  if (!isRecord(choice)) return false;
  if (typeof choice.finish_reason === "string" || (typeof choice.text === "string" && choice.text !== "")) return true;
  if (!isRecord(choice.delta)) return false;
  return Object.entries(choice.delta).some(([name, value]) => name !== "role" && value !== null && value !== "" && value !== undefined);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
