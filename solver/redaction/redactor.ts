import { z } from "zod";
import { builtInNames, builtInRedactions, type Redaction } from "./builtInRedactions";

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
  /** Taken as it is: `$1` stands for itself. */
  replacement: z.string().max(100, "a replacement has at most 100 characters"),
});

/** What is taken out of texts before they are kept. */
export const redactionChoiceSchema = z.strictObject({
  builtIn: z.array(z.enum(builtInNames)).max(builtInNames.length).readonly(),
  own: z.array(redactionRuleSchema).max(20, "give at most 20 rules").readonly(),
});
export type RedactionRule = z.infer<typeof redactionRuleSchema>;
export type RedactionChoice = z.infer<typeof redactionChoiceSchema>;

/** How often each rule found something. */
export type RedactionCounts = Readonly<Record<string, number>>;

/** Why a pattern cannot be used, in a sentence; null where it can. How long it takes shows only when it is tried. */
export function patternProblem(pattern: string): string | null {
  try {
    return new RegExp(pattern, "giu").test("") ? "it matches no text at all, so it would be put everywhere" : null;
  } catch {
    return "it is no regular expression";
  }
}

/** Takes things out of texts by rules, Weir's own first, and counts what it took. */
export class Redactor {
  readonly #redactions: readonly Redaction[];
  readonly #counts = new Map<string, number>();

  constructor({ builtIn, own }: RedactionChoice) {
    this.#redactions = [
      ...builtInRedactions.filter(({ name }) => builtIn.includes(name)),
      ...own.map(({ name, pattern, replacement }) => ({ name, replacement, pattern: new RegExp(pattern, "giu") })),
    ];
  }

  /** Since the last call. */
  takeCounts(): RedactionCounts {
    const counts = Object.fromEntries(this.#counts);
    this.#counts.clear();
    return counts;
  }

  /** The text without what the rules find. Where it is JSON, strings inside are read as they are meant, not as they are escaped. */
  text(text: string): string {
    const inside = this.#insideJson(text);
    return this.#redactions.reduce((before, redaction) => this.#apply(redaction, before), inside);
  }

  /** Every text in a value, names of members too; what is no text stays. */
  value(value: unknown): unknown {
    if (typeof value === "string") return this.text(value);
    if (Array.isArray(value)) return value.map((item) => this.value(item));
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [this.text(name), this.value(member)]));
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

  #apply({ name, pattern, replacement, length }: Redaction, text: string): string {
    return text.replace(pattern, (match: string) => {
      const taken = length?.(match) ?? match.length;
      if (taken === 0) return match;
      this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1);
      return replacement + match.slice(taken);
    });
  }
}
