import type { RequestOptions } from "node:https";
import type { KubeConfig } from "@kubernetes/client-node";
import type { KubernetesConnection } from "./connection";

/** What calls of an API server need in addition to their path. */
export interface KubeCredentials {
  readonly server: string;
  readonly options: RequestOptions;
  readonly atMs: number;
}

/**
 * Access to an API server by the present kubeconfig or a pod's service account; runs its plugin for a token if it names one; or the reason
 * for a failure, in a sentence.
 */
export async function readCredentials(access: KubernetesConnection["access"]): Promise<KubeCredentials | string> {
  const config = await load(access);
  if (typeof config === "string") return config;
  const server = config.getCurrentCluster()?.server ?? "";
  const options: RequestOptions = {};
  try {
    await config.applyToHTTPSOptions(options);
  } catch {
    // A credential plugin's output may contain the credential.
    return `No credentials could be had for the API server at ${server}: the kubeconfig's own way to them failed.`;
  }
  return { server, options, atMs: Date.now() };
}

/** The present kubeconfig, or a sentence. Its parser's message is not repeated: it quotes the file, including keys. */
async function load(access: KubernetesConnection["access"]): Promise<KubeConfig | string> {
  // The client takes 70 MB and more than a second to load: only studios with Kubernetes clusters load it.
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
