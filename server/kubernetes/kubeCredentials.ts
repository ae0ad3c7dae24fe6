import type { RequestOptions } from "node:https";
import type { KubeConfig } from "@kubernetes/client-node";
import type { KubernetesConnection } from "./connection";

/** What calls of an API server need beside their path. */
export interface KubeCredentials {
  readonly server: string;
  readonly options: RequestOptions;
  readonly atMs: number;
}

/** How an API server is reached as a kubeconfig or a pod's service account says now, its plugin run for a token where it names one; or why not, in a sentence. */
export async function readCredentials(access: KubernetesConnection["access"]): Promise<KubeCredentials | string> {
  const config = await load(access);
  if (typeof config === "string") return config;
  const server = config.getCurrentCluster()?.server ?? "";
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch {
    // What a credential plugin says may hold the credential.
    return `No credentials could be had for the API server at ${server}: the kubeconfig's own way to them failed.`;
  }
  return { server, options, atMs: Date.now() };
}

/** A kubeconfig as it stands now, or a sentence. What its parser says is not repeated: it quotes the file, keys and all. */
async function load(access: KubernetesConnection["access"]): Promise<KubeConfig | string> {
  // The client takes 70 MB and more than a second to load: only studios of Kubernetes clusters shall pay for it.
  const client = await import("@kubernetes/client-node");
  const config = new client.KubeConfig();
  if (access.from === "in-cluster") {
    try {
      config.loadFromCluster();
    } catch {
      return "The studio does not run in a pod with a service account: name a kubeconfig instead.";
    }
    return config;
  }
  try {
    config.loadFromFile(access.path);
  } catch {
    return `The kubeconfig ${access.path} cannot be read.`;
  }
  if (access.context !== undefined) config.setCurrentContext(access.context);
  const context = config.getCurrentContext();
  return config.getCurrentCluster() === null ? `The kubeconfig ${access.path} has no context "${context}" with a cluster.` : config;
}
