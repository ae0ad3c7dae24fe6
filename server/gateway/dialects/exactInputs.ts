import { rawElements, rawMembers } from "@/server/lib/rawJson";
import { isRecord } from "@/solver/collections/isRecord";

/**
 * The inputs of tools in a body of the Messages API as JSON text with the numbers as the client wrote them: parsing rounds those beyond
 * 2^53, such as ids. The body's text is read only if there is such a number, and each part of it once, however many there are.
 */
export class ExactInputs {
  readonly #raw: () => string;
  #messages: readonly string[] | null = null;
  /** The blocks of messages, by the message's position. */
  readonly #blocks = new Map<number, readonly string[]>();

  /** @param raw the body's text. */
  constructor(raw: () => string) {
    this.#raw = raw;
  }

  /**
   * @param value the input as it was parsed.
   * @param message the position of its message in the body.
   * @param block the position of its block in the message.
   */
  textOf(value: unknown, message: number, block: number): string {
    const exact = hasRoundedNumber(value) ? rawMembers(this.#blocksOf(message)[block] ?? "").get("input") : undefined;
    return exact ?? JSON.stringify(value);
  }

  #blocksOf(message: number): readonly string[] {
    this.#messages ??= rawElements(rawMembers(this.#raw()).get("messages") ?? "");
    const blocks = this.#blocks.get(message) ?? rawElements(rawMembers(this.#messages[message] ?? "").get("content") ?? "");
    this.#blocks.set(message, blocks);
    return blocks;
  }
}

function hasRoundedNumber(value: unknown): boolean {
  if (typeof value === "number") return !Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value));
  if (Array.isArray(value)) return value.some(hasRoundedNumber);
  return isRecord(value) && Object.values(value).some(hasRoundedNumber);
}
