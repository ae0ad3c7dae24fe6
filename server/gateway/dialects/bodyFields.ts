import { isRecord } from "@/solver/collections/isRecord";
import type { BodyRefusal, Json } from "../http/endpoint";

/** A body cannot be carried: thrown inside of a translator, and returned by it. */
export class NotCarried extends Error implements BodyRefusal {
  readonly param: string;

  constructor(param: string, message: string) {
    super(message);
    this.param = param;
  }
}

/** @returns the refusal if the translation throws one. */
export function carriedOr<T extends object>(translate: () => T): T | BodyRefusal {
  try {
    return translate();
  } catch (error) {
    if (error instanceof NotCarried) return { message: error.message, param: error.param };
    throw error;
  }
}

/** A member that must be a text. */
export function requiredText(object: Json, name: string, at: string): string {
  const value = object[name];
  if (typeof value === "string") return value;
  throw new NotCarried(`${at}.${name}`, `\`${at}.${name}\` must be a text.`);
}

/** A value that must be a list; absent and null are an empty one. */
export function listOf(value: unknown, at: string): readonly unknown[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value;
  throw new NotCarried(at, `\`${at}\` must be a list.`);
}

/** A value that must be an object. */
export function objectOf(value: unknown, at: string): Json {
  if (isRecord(value)) return value;
  throw new NotCarried(at, `\`${at}\` must be an object.`);
}

/** An object without members that are absent or null: engines take null for some fields only. */
export const given = (object: Json): Record<string, unknown> =>
  Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined && value !== null));

/** Whether a client asks for anything: an absent, null, false or empty field asks for nothing. */
export const asksFor = (value: unknown): boolean =>
  value !== undefined && value !== null && value !== false && !(Array.isArray(value) && value.length === 0);
