import type { AdminClient } from "@/server/clusters/adminClient";
import { createConnector } from "@/server/clusters/clusterConnector";
import type { Answer, Connector, StepOptions } from "@/server/clusters/connector";
import { type Look, waitUntil } from "@/server/clusters/waitUntil";
import { probeEndpoint } from "@/server/endpoints/probeEndpoint";
import type { Plan } from "@/solver/plan/plan";
import type { RayHost } from "./rayHost";

/** Weights of a large model load for minutes. */
const usualVerifyMs = 900_000;

const everyMs = 500;

export interface RayConnectorParts {
  readonly host: RayHost;
  readonly gateway: AdminClient;
  /** A kept plan; null when it is kept no more. */
  readonly planOf: (id: string) => Plan | null;
  readonly verifyMs?: number;
}

/**
 * A Ray cluster behind one gateway. An engine lies under a path of Serve's proxies, and whether it is well is Serve's to say: applications
 * of Ray Serve LLM have no `/health`.
 */
export function createRayConnector({ host, gateway, planOf, verifyMs = usualVerifyMs }: RayConnectorParts): Connector {
  const connector = createConnector({ host, gateway, planOf });

  async function look(engineId: string, model: string, signal: AbortSignal): Promise<Look> {
    const found = await host.observe({ signal });
    if (!found.ok) return { waiting: found.message };
    const engine = found.value.engines.find(({ id }) => id === engineId);
    if (engine === undefined) return { failed: `${engineId} is gone: Ray has no application of it.` };
    const told = await host.why(engineId, { signal });
    if (told !== null) return told;
    const { findings } = await probeEndpoint({ name: engineId, url: engine.url, servedName: model }, { signal, generate: true });
    const failure = findings.find(({ level, what }) => level === "failed" && what !== "health");
    return failure === undefined ? { holds: "healthy for Ray, model listed, one token generated" } : { waiting: failure.sentence };
  }

  const verify = (engineId: string, model: string, options: StepOptions): Promise<Answer<string>> =>
    waitUntil(() => look(engineId, model, options.signal), { ...options, limitMs: verifyMs, everyMs });

  return {
    ...connector,
    applyStep: (action, options) =>
      action.kind === "verify" ? verify(action.engineId, action.model, options) : connector.applyStep(action, options),
  };
}
