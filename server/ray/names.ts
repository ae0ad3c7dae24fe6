import { createHash } from "node:crypto";

/** Ray uses an application's name in file names, which are limited to 255 characters. */
const longestName = 120;

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);

/** The application of an engine: named after it and its cluster, with a hash if either had to be changed for that. */
export function applicationName(clusterId: string, engineId: string): string {
  const plain = `weir-${clusterId}-${engineId}`;
  if (plain.length <= longestName && /^[A-Za-z0-9._-]+$/.test(plain)) return plain;
  return `${plain.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, longestName - 9)}-${hashOf(plain)}`;
}

/** The value of `{node}` in a resource's name; null if the resource is no node's. Ray's mark of the head node does not count. */
export function nodeNamed(resource: string, template: string): string | null {
  const [before = "", after = ""] = template.split("{node}");
  const fits = resource.startsWith(before) && resource.endsWith(after) && resource.length > before.length + after.length;
  if (!fits || resource === "node:__internal_head__") return null;
  return resource.slice(before.length, resource.length - after.length);
}

export const nodeResourceOf = (node: string, template: string): string => template.replace("{node}", () => node);
