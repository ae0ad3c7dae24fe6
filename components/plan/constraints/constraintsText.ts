import { LineCounter, parseDocument, stringify } from "yaml";
import type { z } from "zod";
import type { Outcome } from "@/server/contracts/studio";
import { type PlanConstraints, planConstraintsSchema } from "@/solver/plan/constraints";
import { noConstraints } from "../address/constraintsCodec";

/** Constraints as the YAML document that `weir plan --constraints` reads: only those that are set. */
export function constraintsToText(constraints: PlanConstraints): string {
  const asked = Object.entries(constraints).filter(
    ([kind, value]) => JSON.stringify(value) !== JSON.stringify(noConstraints[kind as keyof PlanConstraints]),
  );
  return asked.length === 0 ? "" : stringify(Object.fromEntries(asked));
}

/** The constraints of a YAML document, or one sentence about its error. An empty document has no constraints. */
export function constraintsFromText(text: string): Outcome<{ readonly constraints: PlanConstraints }> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [broken] = document.errors;
  if (broken !== undefined) return { ok: false, message: `Line ${lines.linePos(broken.pos[0]).line} is not YAML: ${broken.message}` };
  const parsed = planConstraintsSchema.safeParse(document.toJS() ?? {}, { error: wordsOf });
  if (parsed.success) {
    const twice = saidTwice(parsed.data);
    return twice === null ? { ok: true, constraints: parsed.data } : { ok: false, message: twice };
  }
  const [issue] = parsed.error.issues;
  const keys = issue?.code === "unrecognized_keys" ? issue.keys.slice(0, 1) : [];
  return { ok: false, message: `${[...(issue?.path ?? []), ...keys].join(".") || "The document"}: ${issue?.message ?? "cannot be used"}.` };
}

const kinds: Readonly<Record<string, string>> = {
  int: "must be a whole number",
  number: "must be a number",
  string: "must be a name",
  boolean: "must be true or false",
  array: "must be a list",
  object: "must have named fields",
};

/** `1 or more`, `more than 0`. */
const bound = (end: number | bigint, inclusive: boolean | undefined, way: "more" | "less"): string =>
  inclusive === true ? `${end.toLocaleString("en-US")} or ${way}` : `${way} than ${end.toLocaleString("en-US")}`;

/** The error of a value, in words. */
function wordsOf(issue: z.core.$ZodRawIssue): string {
  switch (issue.code) {
    case "invalid_type":
      return issue.input === undefined ? "is missing" : (kinds[issue.expected] ?? "is of the wrong kind");
    case "too_small":
      return issue.origin === "string" || issue.origin === "array"
        ? "must not be empty"
        : `must be ${bound(issue.minimum, issue.inclusive, "more")}`;
    case "too_big":
      return `must be ${bound(issue.maximum, issue.inclusive, "less")}`;
    case "unrecognized_keys":
      return "there is no such field";
    default:
      return "cannot be used";
  }
}

/** The first repeated entry of a document; null where there is none. */
function saidTwice({ pinned, shapes, excluded, nodes }: PlanConstraints): string | null {
  const models = (entries: readonly { readonly model: string }[]): readonly string[] => entries.map(({ model }) => model);
  const lists = { pinned: models(pinned), shapes: models(shapes), excluded };
  for (const [field, named] of Object.entries(lists)) {
    const twice = named.find((model, index) => named.indexOf(model) < index);
    if (twice !== undefined) return `${field}: ${twice} is named twice.`;
  }
  const rules = nodes.map((rule) => JSON.stringify(rule));
  const again = nodes.find((_, index) => rules.indexOf(rules[index] ?? "") < index);
  return again === undefined ? null : `nodes: the same is said of ${again.model} twice.`;
}
