import { createHash } from "node:crypto";

/** Deployments, Services and LeaderWorkerSets append suffixes to their names for pods and hostnames, which are limited to 63 characters. */
const longestName = 52;
export const longestLabel = 63;

export const labels = {
  managedBy: "app.kubernetes.io/managed-by",
  cluster: "weir.dev/cluster",
  engine: "weir.dev/engine",
  model: "weir.dev/model",
  /** The beginning of a plan's hash: a label has room for 63 of its 64 digits. */
  plan: "weir.dev/plan",
} as const;

/** The whole order of an engine, as JSON. */
export const orderAnnotation = "weir.dev/engine";
export const manager = "weir";

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);

/**
 * A name for objects of `id`: a DNS-1123 label that starts with a letter, as Services require. If an id had to be changed for it, a hash of
 * the id keeps it unique.
 */
export function objectName(id: string): string {
  const plain = `weir-${id.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`;
  if (plain === `weir-${id}` && plain.length <= longestName && !plain.endsWith("-")) return plain;
  return `${plain.slice(0, longestName - 9).replace(/-+$/, "")}-${hashOf(id)}`;
}

/** `text` as a label's value: itself if it is valid, otherwise its beginning and a hash. */
export function labelValue(text: string): string {
  if (text.length <= longestLabel && /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(text)) return text;
  const plain = text.replace(/[^-A-Za-z0-9_.]+/g, "-").replace(/^[^A-Za-z0-9]+/, "");
  return `${plain.slice(0, longestLabel - 9).replace(/[^A-Za-z0-9]+$/, "") || "x"}-${hashOf(text)}`;
}

/** Selects all of one cluster's objects. */
export const clusterSelector = (clusterId: string): string => `${labels.managedBy}=${manager},${labels.cluster}=${labelValue(clusterId)}`;

/** Whether an object has the labels of one cluster's objects. */
export const isOfCluster = (
  { metadata }: { readonly metadata: { readonly labels: Readonly<Record<string, string>> } },
  clusterId: string,
): boolean => metadata.labels[labels.managedBy] === manager && metadata.labels[labels.cluster] === labelValue(clusterId);
