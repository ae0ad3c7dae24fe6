import { readFileSync } from "node:fs";
import { type Document, isScalar, LineCounter, parseDocument, visit } from "yaml";
import { z } from "zod";
import { type EngineMapping, engineRowSchema, mappingsOf } from "./engineMapping";
import { engineRows } from "./engineRows";

export interface Mappings {
  /** The operator's, from a file. */
  readonly own: readonly EngineMapping[];
  readonly builtIn: readonly EngineMapping[];
}

const builtIn = engineRows.flatMap(mappingsOf);

const fileSchema = z.strictObject({ mappings: z.array(engineRowSchema).min(1) });

/**
 * Reads the operator's rows, YAML or JSON of the shape of `engineRows`: `mappings: [{ engine, prefixes, canonicalMetrics }]`.
 *
 * @param path undefined or empty: there is no such file.
 * @returns with `problem`, one sentence, if the file cannot be used; then none of its rows is.
 */
export function loadMappings(path: string | undefined): Mappings & { readonly problem: string | null } {
  if (path === undefined || path === "") return { own: [], builtIn, problem: null };
  const refused = (why: string) => ({ own: [], builtIn, problem: `${path} ${why}; engines are read by the built-in mappings alone.` });
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    return refused(`cannot be read (${(error as NodeJS.ErrnoException).code ?? String(error)})`);
  }
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const [mistake] = document.errors;
  if (mistake !== undefined) return refused(`is no YAML in line ${lines.linePos(mistake.pos[0]).line}: ${mistake.message}`);
  acceptOldNames(document);
  const read = fileSchema.safeParse(document.toJS());
  if (read.success) return { own: read.data.mappings.flatMap(mappingsOf), builtIn, problem: null };
  const issue = read.error.issues[0];
  const where = issue?.path ?? [];
  for (let depth = where.length; depth >= 0; depth -= 1) {
    const node = depth === 0 ? document.contents : document.getIn(where.slice(0, depth), true);
    const range = (node as { readonly range?: readonly [number, number, number] | null } | null)?.range;
    if (!range) continue;
    const field = where.join(".");
    return refused(`is wrong in line ${lines.linePos(range[0]).line}${field === "" ? "" : `, ${field}`}: ${issue?.message}`);
  }
  return refused("is empty");
}

/** Renames `notions`, the former name of metrics in rows. */
function acceptOldNames(document: Document): void {
  const depthOfRowField = 5;
  visit(document, {
    Pair(_, { key }, path) {
      if (path.length === depthOfRowField && isScalar(key) && key.value === "notions") key.value = "canonicalMetrics";
    },
  });
}

let inForce: (Mappings & { readonly problem: string | null }) | undefined;

/** The mappings of this process, including those of the file in `WEIR_ENGINE_MAPPINGS`; read once. */
export function mappingsInForce(): Mappings & { readonly problem: string | null } {
  inForce ??= loadMappings(process.env.WEIR_ENGINE_MAPPINGS);
  return inForce;
}
