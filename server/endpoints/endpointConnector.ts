import type { AdminClient, AdminRequest } from "@/server/clusters/adminClient";
import { createConnector } from "@/server/clusters/clusterConnector";
import type { Answer, Connector, StepOptions } from "@/server/clusters/connector";
import { waitUntil } from "@/server/clusters/waitUntil";
import type { GatewayConfig, GatewayReplica } from "@/server/contracts/gatewayAdmin";
import type { Plan } from "@/solver/plan/plan";
import { type AttachedEngine, attachedEngines } from "./attachedEngines";
import type { EndpointConnection } from "./connection";
import { createEndpointHost } from "./endpointHost";
import { probeEndpoint } from "./probeEndpoint";

/** It runs already: what is not there after this needs its operator. */
const usualVerifyMs = 60_000;

/** For what it tells of itself: longer than somebody who waits before a page should wait. */
const busyLimitMs = 15_000;

export interface EndpointConnectorParts {
  readonly connection: EndpointConnection;
  readonly gateway: AdminClient;
  /** A kept plan; null when it is kept no more. */
  readonly planOf: (id: string) => Plan | null;
  readonly verifyMs?: number;
}

/** A cluster of attached endpoints behind one gateway, which is told how each of them lets it in and what it calls its model. */
export function createEndpointConnector({ connection, gateway, planOf, verifyMs = usualVerifyMs }: EndpointConnectorParts): Connector {
  const attached = new Map(attachedEngines(connection).map((engine) => [engine.id, engine]));
  const connector = createConnector({ host: createEndpointHost(connection), gateway: withAccess(gateway, attached), planOf });

  async function verify(engineId: string, options: StepOptions): Promise<Answer<string>> {
    const engine = attached.get(engineId);
    if (engine === undefined) {
      options.signal.throwIfAborted();
      return { ok: false, message: `${engineId} is not among the engines attached to this cluster.` };
    }
    const { name, url, key, caFile, servedName = engine.model } = engine.endpoint;
    const target = { name, url, servedName, ...(key && { key }), ...(caFile !== undefined && { caFile }) };
    return waitUntil(
      async () => {
        const { findings, ttftSeconds } = await probeEndpoint(target, { signal: options.signal, generate: true, limitMs: busyLimitMs });
        const failure = findings.find(({ level }) => level === "failed");
        if (failure !== undefined) return { waiting: `${name}: ${[failure.sentence, failure.next ?? ""].join(" ").trim()}` };
        return { holds: `healthy, model listed, one token in ${Math.round((ttftSeconds ?? 0) * 1000)} ms` };
      },
      { ...options, limitMs: verifyMs, everyMs: 1_000 },
    );
  }

  return {
    ...connector,
    applyStep: (action, options) => (action.kind === "verify" ? verify(action.engineId, options) : connector.applyStep(action, options)),
  };
}

/** The gateway's admin listener, where each engine of a configuration that is put gets the references of its endpoint. */
function withAccess(gateway: AdminClient, attached: ReadonlyMap<string, AttachedEngine>): AdminClient {
  const completed = (replica: GatewayReplica): GatewayReplica => {
    const engine = attached.get(replica.id);
    if (engine === undefined) return replica;
    const { key, caFile, servedName } = engine.endpoint;
    return {
      ...replica,
      ...(key && { key }),
      ...(caFile !== undefined && { caFile }),
      ...(servedName !== undefined && { servedName }),
    };
  };
  return (path, request) => {
    if (path !== "/config" || request.method !== "PUT") return gateway(path, request);
    const config = request.body as GatewayConfig;
    const whole: AdminRequest<typeof request.schema> = { ...request, body: { ...config, replicas: config.replicas.map(completed) } };
    return gateway(path, whole);
  };
}
