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
  /** Keeps this cluster's engines apart from those of others in the same place. */
  readonly clusterId: string;
  /** The studio's; engines started on this host are put down under it. */
  readonly stateDir: string;
  /** The studio's own variables, to which connections refer. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly gpuCards: () => CardCatalogue["gpus"];
}

/**
 * The host that a connection leads to. Nothing is asked or read yet: credentials that cannot be used, as those of a kubeconfig that is not
 * there, are told in a sentence by `observe`, anew each time, since they may come. Refused is what can never be used by this process.
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

/** Where records and logs of the engines lie that the studio starts on its own host for a cluster. */
const processFolder = (stateDir: string, clusterId: string): string => join(stateDir, "engines", clusterId);
