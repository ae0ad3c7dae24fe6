import { createHash } from "node:crypto";

/** Deployments, Services and LeaderWorkerSets hang pods and hostnames with suffixes of their own behind their names, which end at 63. */
const longestName = 52;
export const longestLabel = 63;

export const labels = {
  managedBy: "app.kubernetes.io/managed-by",
  cluster: "weir.dev/cluster",
  engine: "weir.dev/engine",
  model: "weir.dev/model",
  /** The beginning of a plan's hash, of whose 64 digits a label takes 63. */
  plan: "weir.dev/plan",
} as const;

/** The whole order of an engine, as JSON. */
export const orderAnnotation = "weir.dev/engine";
export const manager = "weir";

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex").slice(0, 8);

/**
 * A name for objects of `id`: a DNS-1123 label that starts with a letter, as Services want it. Where an id had to be changed for it, a hash
 * of the id keeps it apart from its like.
 */
export function objectName(id: string): string {
  const plain = `weir-${id.toLowerCase().replace(/[^a-z0-9]+/g, "-")}`;
  if (plain === `weir-${id}` && plain.length <= longestName && !plain.endsWith("-")) return plain;
  return `${plain.slice(0, longestName - 9).replace(/-+$/, "")}-${hashOf(id)}`;
}

/** `text` as a label's value: itself where that is one, else its beginning and a hash. */
export function labelValue(text: string): string {
  if (text.length <= longestLabel && /^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/.test(text)) return text;
  const plain = text.replace(/[^-A-Za-z0-9_.]+/g, "-").replace(/^[^A-Za-z0-9]+/, "");
  return `${plain.slice(0, longestLabel - 9).replace(/[^A-Za-z0-9]+$/, "") || "x"}-${hashOf(text)}`;
}

/** What selects all of one cluster's objects. */
export const clusterSelector = (clusterId: string): string => `${labels.managedBy}=${manager},${labels.cluster}=${labelValue(clusterId)}`;

/** Whether an object has the labels of one cluster's objects. */
export const isOfCluster = (
  { metadata }: { readonly metadata: { readonly labels: Readonly<Record<string, string>> } },
  clusterId: string,
): boolean => metadata.labels[labels.managedBy] === manager && metadata.labels[labels.cluster] === labelValue(clusterId);
