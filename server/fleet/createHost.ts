import { join } from "node:path";
import type { Answer } from "@/server/clusters/connector/connector";
import type { EngineHost } from "@/server/clusters/connector/engineHost";
import type { EngineAccess } from "@/server/contracts/engine/engineAccess";
import { accessRefusal } from "@/server/contracts/engine/readEngineAccess";
import { createEndpointHost } from "@/server/endpoints/endpointHost";
import { createKubernetesHost } from "@/server/kubernetes/kubernetesHost";
import { createProcessHost } from "@/server/processes/processHost";
import { createRayHost } from "@/server/ray/rayHost";
import type { CardCatalogue } from "@/solver/hardware/catalogue";
import type { ClusterConnection } from "./connection";

export interface HostDeps {
  /** Separates this cluster's engines from those of others in the same place. */
  readonly clusterId: string;
  /** The studio's; engines started on this host are recorded under it. */
  readonly stateDir: string;
  /** The studio's own variables, to which connections refer. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly gpuCards: () => CardCatalogue["gpus"];
}

/**
 * The host of a connection. Nothing is called or read yet: unusable credentials, such as those of a missing kubeconfig, are reported in a
 * sentence by `observe`, each time, since they may appear later. A connection that this process can never use is refused.
 */
export function createHost(connection: ClusterConnection, { clusterId, stateDir, environment, gpuCards }: HostDeps): Answer<EngineHost> {
  const accesses = accessesOf(connection);
  const refusal = accesses.map((access) => accessRefusal(access, environment)).find((one) => one !== null);
  if (refusal != null) return { ok: false, message: refusal };
  switch (connection.kind) {
    case "endpoints":
      return { ok: true, value: createEndpointHost(connection) };
    case "processes":
      return { ok: true, value: createProcessHost(connection, { folder: processFolder(stateDir, clusterId), environment, gpuCards }) };
    case "kubernetes":
      return { ok: true, value: createKubernetesHost(connection, { clusterId }) };
    case "ray":
      return { ok: true, value: createRayHost(connection, { clusterId }) };
  }
}

function accessesOf(connection: ClusterConnection): readonly EngineAccess[] {
  switch (connection.kind) {
    case "endpoints":
      return connection.endpoints;
    case "processes":
      return connection.adopt;
    case "kubernetes":
      return [];
    case "ray":
      return [connection];
  }
}

/** Folder for records and logs of the engines that the studio starts on its own host for a cluster. */
const processFolder = (stateDir: string, clusterId: string): string => join(stateDir, "engines", clusterId);
