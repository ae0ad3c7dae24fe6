import { z } from "zod";
import { builtInNames, builtInRedactions, type Redaction, secretName } from "./builtInRedactions";
import { plainText } from "./plainText";

/** An operator's own rule. Letters match in either case. */
export const redactionRuleSchema = z.strictObject({
  name: z.string().regex(/^[a-z0-9][a-z0-9 _-]{0,39}$/, "a name has small letters, digits, spaces, - and _, at most 40 of them"),
  pattern: z
    .string()
    .min(1, "give a pattern")
    .max(500, "a pattern has at most 500 characters")
    .superRefine((pattern, check) => {
      const problem = patternProblem(pattern);
      if (problem !== null) check.addIssue({ code: "custom", message: problem });
    }),
  /** Used literally: `$1` is no group reference. */
  replacement: z.string().max(100, "a replacement has at most 100 characters"),
});

/** The redactions of texts before they are stored. */
export const redactionChoiceSchema = z.strictObject({
  builtIn: z.array(z.enum(builtInNames)).max(builtInNames.length).readonly(),
  own: z.array(redactionRuleSchema).max(20, "give at most 20 rules").readonly(),
});
export type RedactionRule = z.infer<typeof redactionRuleSchema>;
export type RedactionChoice = z.infer<typeof redactionChoiceSchema>;

/** Number of matches of each rule. */
export type RedactionCounts = Readonly<Record<string, number>>;

/** Why a pattern cannot be used, in a sentence; null where it can. Its running time is known only by trying it. */
export function patternProblem(pattern: string): string | null {
  try {
    return new RegExp(pattern, "giu").test("") ? "it matches no text at all, so it would be put everywhere" : null;
  } catch {
    return "it is no regular expression";
  }
}

/** Redacts texts by rules, Weir's own first, and counts the matches. */
export class Redactor {
  readonly #builtIn: readonly Redaction[];
  readonly #own: readonly Redaction[];
  readonly #counts = new Map<string, number>();

  constructor({ builtIn, own }: RedactionChoice) {
    this.#builtIn = builtInRedactions.filter(({ name }) => builtIn.includes(name));
    this.#own = own.map(({ name, pattern, replacement }) => ({ name, replacement, pattern: new RegExp(pattern, "giu") }));
  }

  /** Counts since the last call. */
  takeCounts(): RedactionCounts {
    const counts = Object.fromEntries(this.#counts);
    this.#counts.clear();
    return counts;
  }

  /**
   * The text without the rules' matches. If it is JSON, strings inside are read unescaped. Weir's own
   * rules read the plain form of the text from `plainText`, an operator's rules the text itself; the rest stays unchanged.
   */
  text(text: string): string {
    const inside = this.#insideJson(text);
    const without = this.#withoutBuiltIn(inside);
    return this.#own.reduce((before, redaction) => before.replace(redaction.pattern, () => this.#taken(redaction)), without);
  }

  /** Every text in a value, including names of members; other values stay. */
  value(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (Array.isArray(value)) return value.map((item) => this.value(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [this.text(name), this.#member(name, member)]));
  }

  #member(name: string, value: unknown): unknown {
    const secret = this.#builtIn.find((redaction) => redaction.name === "secret");
    if (secret === undefined || typeof value !== "string" || value === "" || !secretName.test(name)) return this.value(value);
    return this.#taken(secret);
  }

  #insideJson(text: string): string {
    if (!/^\s*[[{]/.test(text)) return text;
    let parsed: unknown;
    try {
      parsed = JSON.parse(text);
    } catch {
      return text;
    }
    const before = JSON.stringify(parsed);
    const after = JSON.stringify(this.value(parsed));
    return after === before ? text : after;
  }

  #withoutBuiltIn(text: string): string {
    let left = text;
    let read = plainText(left);
    for (const redaction of this.#builtIn) {
      const pieces: string[] = [];
      let reached = 0;
      for (const { 0: match, index } of read.plain.matchAll(redaction.pattern)) {
        const length = redaction.length?.(match) ?? match.length;
        if (length === 0) continue;
        const { from, to } = read.placeOf(index + (redaction.lead?.(match) ?? 0), index + length);
        pieces.push(left.slice(reached, from), this.#taken(redaction));
        reached = to;
      }
      if (reached === 0) continue;
      left = [...pieces, left.slice(reached)].join("");
      read = plainText(left);
    }
    return left;
  }

  /** The replacement of a match; counts it. */
  #taken({ name, replacement }: Redaction): string {
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
    return replacement;
  }
}
