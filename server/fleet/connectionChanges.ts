import { isDeepStrictEqual } from "node:util";
import type { ClusterConnection } from "./connection";

/** The changes between two connections, in words for the audit: fields by their names, never their values. */
export function connectionChanges(before: ClusterConnection | null, after: ClusterConnection): string {
  if (before === null) return "The connection that could not be used was replaced.";
  if (before.kind !== "endpoints" || after.kind !== "endpoints") return sentenceOf(changedFields(before, after));
  const was = new Map(before.endpoints.map((endpoint) => [endpoint.name, endpoint]));
  const is = new Map(after.endpoints.map((endpoint) => [endpoint.name, endpoint]));
  const added = [...is.keys()].filter((name) => !was.has(name));
  const removed = [...was.keys()].filter((name) => !is.has(name));
  const changed = [...is].flatMap(([name, endpoint]) => {
    const fields = changedFields(was.get(name) ?? endpoint, endpoint);
    return fields.length === 0 ? [] : [`${name}: ${fields.join(", ")}`];
  });
  const rest = changedFields({ ...before, endpoints: [] }, { ...after, endpoints: [] });
  return sentenceOf([
    ...(added.length === 0 ? [] : [`added ${added.join(", ")}`]),
    ...(removed.length === 0 ? [] : [`removed ${removed.join(", ")}`]),
    ...changed,
    ...rest,
  ]);
}

const sentenceOf = (parts: readonly string[]): string => (parts.length === 0 ? "Nothing changed." : `Changed: ${parts.join("; ")}.`);

function changedFields(before: object, after: object): readonly string[] {
  const [was, is] = [before, after] as [Record<string, unknown>, Record<string, unknown>];
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].filter((name) => !isDeepStrictEqual(was[name], is[name]));
}
