import type { Prompt, PromptOwner } from "@/server/contracts/studio";
import { isRecord } from "@/solver/collections/isRecord";
import { messageText } from "@/solver/judging/conversation";
import type { PromptFacts } from "@/solver/prompts/stratumOf";

/** What a line says of its prompt, before anything of it is believed. */
export interface PromptParts {
  readonly line: number;
  readonly id: unknown;
  readonly category: unknown;
  readonly at: unknown;
  readonly messages: unknown;
  /** Fields of the request besides its messages. */
  readonly settings: Readonly<Record<string, unknown>>;
  readonly reference: unknown;
  readonly test: unknown;
  /** Absent: nobody's that is known. */
  readonly owner?: PromptOwner;
}

const MAX_NAME_CHARACTERS = 100;

/** No tool schema comes near it; serializing much deeper nesting fails. */
const MAX_DEPTH = 200;
const roles: readonly unknown[] = ["system", "developer", "user", "assistant", "tool", "function"];

export type Json = Readonly<Record<string, unknown>>;

/** The prompt of a line, or in a few words its problem, without repeating its content. */
export function promptOf(parts: PromptParts): Prompt | string {
  const { line, messages, settings } = parts;
  if (!Array.isArray(messages)) return "`messages` is no list";
  if (messages.length === 0) return "`messages` is empty";
  for (const [at, message] of messages.entries()) {
    if (!isRecord(message) || !roles.includes(message.role)) return `message ${at + 1} has none of the known roles`;
    const { content } = message;
    if (!(content === undefined || content === null || typeof content === "string" || Array.isArray(content)))
      return `the content of message ${at + 1} is neither text nor a list of parts`;
  }
  if (!messages.some((message) => message.role === "user" && messageText(message).trim() !== "")) return "it has no text of a user";
  if (isDeep(messages, MAX_DEPTH) || isDeep(settings, MAX_DEPTH)) return "it is nested too deeply";
  return {
    id: nameOf(parts.id)?.replaceAll(/[[\]]/g, "-") || `line-${line}`,
    category: nameOf(parts.category) ?? "",
    atMs: instantMs(parts.at),
    body: { ...settings, messages },
    reference: textual(parts.reference),
    test: textual(parts.test),
    ...(parts.owner === undefined ? {} : { owner: parts.owner }),
  };
}

function isDeep(value: unknown, most: number): boolean {
  if (typeof value !== "object" || value === null) return false;
  if (most === 0) return true;
  for (const part of Array.isArray(value) ? value : Object.values(value)) if (isDeep(part, most - 1)) return true;
  return false;
}

/** What a survey counts of a prompt apart from its text. */
export function factsOf({ body: { messages, tools }, category, atMs }: Prompt): PromptFacts & {
  readonly isMultiTurn: boolean;
  readonly hasTools: boolean;
} {
  let [characters, users] = [0, 0];
  let [hasAnswers, hasTools] = [false, Array.isArray(tools) && tools.length > 0];
  for (const message of messages) {
    if (!isRecord(message)) continue;
    characters += messageText(message).length;
    if (message.role === "user") users += 1;
    if (message.role === "assistant") hasAnswers = true;
    if (message.role === "tool" || message.role === "function" || message.tool_calls !== undefined) hasTools = true;
  }
  return { category, characters, atMs, isMultiTurn: users > 1 || hasAnswers, hasTools };
}

/** What most names are made of. */
const usualName = /^[\w.:/@+-]{1,100}$/;

/** Without line breaks and of limited length; null: there is none. */
function nameOf(value: unknown): string | null {
  const text = textual(value);
  if (text === null || usualName.test(text)) return text;
  // Line breaks and what else cannot be seen would break lists and other programs' lines.
  const shown = text.slice(0, 10 * MAX_NAME_CHARACTERS).replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, " ");
  return shown.trim().slice(0, MAX_NAME_CHARACTERS) || null;
}

function textual(value: unknown): string | null {
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  return typeof value === "string" && value !== "" ? value : null;
}

/** Seconds of the year 5138, and milliseconds of 1973: no log is of either. */
const FIRST_AS_MS = 1e11;
const LATEST_MS = 8.64e15;
const ISO = /^(\d{4}-\d\d-\d\d)[ T](\d\d:\d\d(?::\d\d(?:\.\d+)?)?) ?(Z|UTC|[+-]\d\d:?\d\d)?$/i;

/** A moment as Unix milliseconds: of a number or its text, seconds or milliseconds by its size, or of ISO 8601, UTC unless it says so; null: neither. */
export function instantMs(value: unknown): number | null {
  if (typeof value === "number") return ofNumber(value);
  if (typeof value !== "string" || value.trim() === "") return null;
  const text = value.trim();
  if (/^\d{9,13}(\.\d+)?$/.test(text)) return ofNumber(Number(text));
  if (/^\d{4}-\d\d-\d\d$/.test(text)) return finite(Date.parse(`${text}T00:00Z`));
  const [, day, time, offset = "Z"] = ISO.exec(text) ?? [];
  if (day === undefined) return null;
  const zone = /^(Z|UTC)$/i.test(offset) ? "Z" : offset.replace(/^(...)(\d\d)$/, "$1:$2");
  return finite(Date.parse(`${day}T${time}${zone}`));
}

function ofNumber(value: number): number | null {
  const ms = value >= FIRST_AS_MS ? value : value * 1000;
  return value > 0 && ms <= LATEST_MS ? Math.round(ms) : null;
}

const finite = (ms: number): number | null => (Number.isFinite(ms) ? ms : null);
