import type { KubeObject } from "./manifests";

/** Paths of the objects of each kind, as published by their APIs. */
const collections: Readonly<Record<KubeObject["kind"] | "Pod", { readonly api: string; readonly plural: string }>> = {
  Pod: { api: "api/v1", plural: "pods" },
  Service: { api: "api/v1", plural: "services" },
  Deployment: { api: "apis/apps/v1", plural: "deployments" },
  LeaderWorkerSet: { api: "apis/leaderworkerset.x-k8s.io/v1", plural: "leaderworkersets" },
  InferencePool: { api: "apis/inference.networking.k8s.io/v1", plural: "inferencepools" },
};

export const collectionPath = (kind: KubeObject["kind"] | "Pod", namespace: string): string =>
  `${collections[kind].api}/namespaces/${namespace}/${collections[kind].plural}`;

export const objectPath = (kind: KubeObject["kind"], namespace: string, name: string): string =>
  `${collectionPath(kind, namespace)}/${name}`;
