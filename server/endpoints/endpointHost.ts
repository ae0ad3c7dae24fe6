import type { ObservedEngine } from "@/server/clusters/connector/connector";
import type { EngineHost } from "@/server/clusters/connector/engineHost";
import { attachedEngines, endpointNodes } from "./attachedEngines";
import type { EndpointConnection } from "./connection";

/**
 * Engines that Weir does not start. The list follows from the connection alone: an engine that is down still belongs to the cluster; the
 * gateway sends it no requests until it is back.
 */
export function createEndpointHost(connection: EndpointConnection): EngineHost {
  const attached = attachedEngines(connection);
  const isAttached = (engineId: string): boolean => attached.some(({ id }) => id === engineId);
  const engines = attached.map(
    ({ precision: _, endpoint: { url, key, caFile, servedName }, ...engine }): ObservedEngine => ({
      ...engine,
      url,
      stopping: false,
      access: { ...(key && { key }), ...(caFile !== undefined && { caFile }), ...(servedName !== undefined && { servedName }) },
    }),
  );
  const { dcgmUrls, judge } = connection;
  const real = { outcomes: null, timeScale: 1, deviates: null, topology: "given" } as const;
  return {
    async observe({ signal }) {
      signal?.throwIfAborted();
      return { ok: true, value: { ...endpointNodes(connection), engines, ...real, dcgmUrls, judge } };
    },
    async why(engineId, { signal }) {
      signal?.throwIfAborted();
      return isAttached(engineId) ? null : { failed: `${engineId} is not among the engines attached to this cluster.` };
    },
    async start({ id }, { signal }) {
      signal.throwIfAborted();
      return isAttached(id)
        ? { ok: true, value: "is run by its operator" }
        : { ok: false, message: `${id} is not attached, and Weir starts nothing here.` };
    },
    async stop(engineId, { signal }) {
      signal.throwIfAborted();
      return isAttached(engineId)
        ? { ok: false, message: `${engineId} is run by its operator: Weir does not stop it.` }
        : { ok: true, value: "is not attached any more" };
    },
  };
}
