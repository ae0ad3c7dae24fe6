import { LineCounter, parseDocument, stringify } from "yaml";
import type { Outcome } from "@/server/contracts/studio";
import { type PlanConstraints, planConstraintsSchema } from "@/solver/deployment/constraints";
import { noConstraints } from "./constraintsCodec";

/** Constraints as the YAML document that `weir plan --constraints` takes: only what is asked. */
export function constraintsToText(constraints: PlanConstraints): string {
  const asked = Object.entries(constraints).filter(
    ([kind, value]) => JSON.stringify(value) !== JSON.stringify(noConstraints[kind as keyof PlanConstraints]),
  );
  return asked.length === 0 ? "" : stringify(Object.fromEntries(asked));
}

/** The constraints of a YAML document, or one sentence on what is wrong with it. An empty one asks for nothing. */
export function constraintsFromText(text: string): Outcome<{ readonly constraints: PlanConstraints }> {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [broken] = document.errors;
  if (broken !== undefined) return { ok: false, message: `Line ${lines.linePos(broken.pos[0]).line} is not YAML: ${broken.message}` };
  const parsed = planConstraintsSchema.safeParse(document.toJS() ?? {});
  if (parsed.success) return { ok: true, constraints: parsed.data };
  const [issue] = parsed.error.issues;
  if (issue?.code === "unrecognized_keys")
    return { ok: false, message: `${[...issue.path, issue.keys[0]].join(".")}: there is no such field.` };
  return { ok: false, message: `${issue?.path.join(".") || "The document"}: ${issue?.message ?? "cannot be used"}.` };
}
