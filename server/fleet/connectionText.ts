import { type Document, LineCounter, parseDocument, visit } from "yaml";
import type { z } from "zod";
import { looksLikeKey, namesAKey } from "@/server/lib/secrets";
import { yamlText } from "@/server/lib/yamlText";
import { keyByReference } from "@/solver/wording/keyReference";
import { shownText } from "@/solver/wording/shellText";
import { type ClusterConnection, clusterConnectionSchema } from "./connection";
import { offsetOf } from "./yamlOffset";

/** A fault of a connection: its position, if it can be determined, and the problem, in one sentence. No value is repeated. */
interface ConnectionFault {
  readonly line: number | null;
  readonly field: string;
  readonly sentence: string;
}

export type ReadConnectionText =
  | { readonly ok: true; readonly connection: ClusterConnection }
  | { readonly ok: false; readonly faults: readonly ConnectionFault[] };

/** Most faults that are reported at once. */
const mostFaults = 12;

/** Fields in which people may write a key itself. */
const isKeyField = (name: string): boolean => namesAKey(name) || /^(authorization|bearer)$/i.test(name);

/** A connection as text, in YAML or JSON; its faults with their lines if it is invalid. */
export function readConnectionText(text: string): ReadConnectionText {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const lineOf = (offset: number): number => lines.linePos(offset).line;
  const [broken] = document.errors;
  if (broken !== undefined) {
    const line = lineOf(broken.pos[0]);
    return {
      ok: false,
      faults: [{ line, field: "", sentence: `Line ${line} or the one after it is no YAML: check its colons, quotes and indentation.` }],
    };
  }
  const keys = keysIn(document, lineOf);
  if (keys.length > 0) return { ok: false, faults: keys };
  let kept: unknown;
  try {
    kept = document.toJS();
  } catch {
    return { ok: false, faults: [{ line: null, field: "", sentence: "Its aliases cannot be followed." }] };
  }
  const read = checkConnection(kept);
  if (read.ok) return read;
  const faults = read.faults.map((fault) => {
    const line = lineOf(offsetOf(document, fault.path));
    return { line, field: fault.field, sentence: `Line ${line}: ${fault.sentence}` };
  });
  return { ok: false, faults };
}

interface PlacedFault extends ConnectionFault {
  readonly path: readonly (string | number)[];
}

/** A connection as data, validated by its kind. */
export function checkConnection(
  kept: unknown,
): { readonly ok: true; readonly connection: ClusterConnection } | { readonly ok: false; readonly faults: readonly PlacedFault[] } {
  const parsed = clusterConnectionSchema.safeParse(kept);
  if (parsed.success && !holdsKey(parsed.data)) return { ok: true, connection: parsed.data };
  if (parsed.success) return { ok: false, faults: [{ line: null, field: "", path: [], sentence: keyByReference }] };
  return { ok: false, faults: parsed.error.issues.flatMap((issue) => faultsOf(issue, [], kept)).slice(0, mostFaults) };
}

/** In its stored form, with every default. */
export const connectionText = (connection: unknown): string => yamlText(connection);

function faultsOf(issue: z.core.$ZodIssue, above: readonly (string | number)[], kept: unknown): readonly PlacedFault[] {
  const path = [...above, ...issue.path.map((part) => (typeof part === "number" ? part : String(part)))];
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((name) => fault([...path, name], isKeyField(name) ? keyByReference : `There is no such field; it is not used.`));
  // The value fits none of its forms: the nearest one determines the message.
  const [nearest] = issue.code === "invalid_union" ? [...issue.errors].sort((a, b) => a.length - b.length) : [];
  const isWrittenKey = issue.code === "invalid_union" && typeof valueAt(kept, path) === "string" && isKeyField(String(path.at(-1)));
  if (isWrittenKey) return [fault(path, keyByReference)];
  if (nearest !== undefined) return nearest.flatMap((inner) => faultsOf(inner, path, kept));
  // A name in a record: its path ends with the name.
  if (issue.code === "invalid_key") return issue.issues.flatMap((inner) => faultsOf({ ...inner, path: issue.path }, above, kept));
  if (issue.code === "invalid_type" && valueAt(kept, path) === undefined) return [fault(path, "It is missing.")];
  if (issue.code === "invalid_type") return [fault(path, `It must be ${written[issue.expected] ?? issue.expected}.`)];
  return [fault(path, `${issue.message.replace(/^./, (letter) => letter.toUpperCase()).replace(/\.$/, "")}.`)];
}

/** Names of types for people. */
const written: Readonly<Record<string, string>> = {
  ...{ record: "fields with their values", object: "fields with their values", array: "a list", string: "text" },
  ...{ number: "a number", int: "a whole number", boolean: "true or false" },
};

function fault(path: readonly (string | number)[], says: string): PlacedFault {
  const field = shownText(path.join("."));
  return { line: null, field, path, sentence: `${field === "" ? "The whole connection" : field}: ${says}` };
}

function valueAt(kept: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>(
    (value, part) => (typeof value === "object" && value !== null ? (value as Record<string | number, unknown>)[part] : undefined),
    kept,
  );
}

function holdsKey(value: unknown): boolean {
  if (typeof value === "string") return looksLikeKey(value);
  return typeof value === "object" && value !== null && Object.values(value).some(holdsKey);
}

/** Values that look like keys, anywhere in the document. */
function keysIn(document: Document, lineOf: (offset: number) => number): readonly ConnectionFault[] {
  const faults: ConnectionFault[] = [];
  visit(document, {
    Scalar(_, node) {
      if (typeof node.value !== "string" || !looksLikeKey(node.value) || !node.range) return;
      const line = lineOf(node.range[0]);
      faults.push({ line, field: "", sentence: `Line ${line} holds what looks like a key. ${keyByReference}` });
    },
  });
  return faults;
}
