import { z } from "zod";
import { type EmulatedCluster, type EngineRequest, emulatedClusterSchema } from "@/server/contracts/emulatorAdmin";
import { gatewayConfigSchema, gatewayStatusSchema } from "@/server/contracts/gatewayAdmin";
import type { GatewayRouting, StepAction } from "@/server/store/storedStep";
import type { AdminClient } from "./adminClient";
import type { Answer, Connector, Observation, ObservedEngine, StepOptions, StepSources } from "./connector";
import { gatewayConfig, routedModelsOf, routingOf } from "./gatewayRouting";
import { verifyEngine } from "./verifyEngine";
import { type Look, waitUntil } from "./waitUntil";

/** Weights of a large model load for minutes; a Kubernetes progress deadline of 600 s is often too short. */
const loadLimitMs = 900_000;

/** The longest a request may take at the gateway: after it nothing can be in flight any more. */
const drainLimitMs = 600_000;

/** An engine without requests ends at once; a minute is one that hangs. */
const stopLimitMs = 60_000;

/** A cluster that is only looked at is looked at again soon; what hangs shall be known as down within seconds. */
const observeLimitMs = 4_000;

/** Another writer changed the gateway's configuration between our read and our write; read again this often. */
const writeAttempts = 3;

/** `If-Match` for a gateway that has no configuration yet. */
const noConfigEtag = '"none"';

export interface EmbeddedClusterOptions {
  readonly emulator: AdminClient;
  readonly gateway: AdminClient;
  readonly sources: StepSources;
}

/** The cluster that comes with the studio: emulated engines and one gateway, both reached over HTTP. */
export function createEmbeddedConnector({ emulator, gateway, sources }: EmbeddedClusterOptions): Connector {
  const readCluster = async (signal?: AbortSignal, limitMs?: number): Promise<Answer<EmulatedCluster>> => {
    const reply = await emulator("/cluster", { schema: emulatedClusterSchema, signal, limitMs });
    if (!reply.ok) return reply;
    return reply.value.value === null
      ? { ok: false, message: "The emulator answered with nothing." }
      : { ok: true, value: reply.value.value };
  };
  const readConfig = (signal?: AbortSignal, limitMs?: number) =>
    gateway("/config", { schema: gatewayConfigSchema, signal, alsoFine: [404], limitMs });

  async function observe(signal?: AbortSignal): Promise<Answer<Observation>> {
    const [cluster, config] = await Promise.all([readCluster(signal, observeLimitMs), readConfig(signal, observeLimitMs)]);
    if (!cluster.ok) return cluster;
    if (!config.ok) return config;
    const { gpu, nodes, timeScale, dcgmUrl, outcomes, truth } = cluster.value;
    const routing = routingOf(config.value.value);
    const policyModels = routing.planId === null || config.value.value === null ? [] : routedModelsOf(config.value.value);
    const engines = cluster.value.engines.map(observed);
    const rest = { outcomes: outcomes?.name ?? null, timeScale, deviates: truth.enabled, dcgmUrl };
    return { ok: true, value: { gpu, nodes, engines, routing, policyModels, ...rest } };
  }

  async function route(routing: GatewayRouting, signal: AbortSignal): Promise<Answer<string>> {
    const plan = routing.planId === null ? null : sources.plan(routing.planId);
    let refusal: Answer<string> = { ok: false, message: "The gateway's configuration kept changing under this step." };
    for (let attempt = 0; attempt < writeAttempts; attempt += 1) {
      const [cluster, current] = await Promise.all([readCluster(signal), readConfig(signal)]);
      if (!cluster.ok) return cluster;
      if (!current.ok) return current;
      if (plan === null && routing.planId !== null && routing.planId !== current.value.value?.planId) {
        return { ok: false, message: `Plan ${routing.planId} is not kept any more.` };
      }
      const engines = cluster.value.engines.map(observed);
      const { judge, timeScale } = cluster.value;
      const config = gatewayConfig({ routing, plan, engines, judge, timeScale, current: current.value.value });
      if (config === null) return { ok: true, value: "nothing was in force" };
      const headers = { "if-match": current.value.etag ?? noConfigEtag };
      const body = { ...config, by: "studio", reason: "a step of an application" };
      const written = await gateway("/config", { method: "PUT", body, headers, schema: z.unknown(), signal, alsoFine: [412] });
      if (!written.ok) return written;
      const count = config.replicas.filter((replica) => replica.state === "active").length;
      if (written.value.status !== 412) return { ok: true, value: `requests go to ${count} engine${count === 1 ? "" : "s"}` };
      refusal = { ok: false, message: "Somebody else keeps changing the gateway's configuration." };
    }
    return refusal;
  }

  async function loadOutcomes(workloadId: string, signal: AbortSignal): Promise<Answer<string>> {
    const outcomes = sources.heldOutOutcomes(workloadId);
    if (outcomes === null)
      return { ok: false, message: "The plan's workload was removed: the emulated engines have no prompts to replay." };
    const put = await emulator("/outcomes", { method: "PUT", body: outcomes, schema: z.unknown(), signal });
    return put.ok ? { ok: true, value: `${outcomes.promptIds.length} held-out prompts` } : put;
  }

  async function start(engine: EngineRequest, signal: AbortSignal): Promise<Answer<string>> {
    const cluster = await readCluster(signal);
    if (!cluster.ok) return cluster;
    if (cluster.value.engines.some((one) => one.id === engine.id && one.state !== "stopping")) return { ok: true, value: "was up already" };
    const posted = await emulator("/engines", { method: "POST", body: engine, schema: z.unknown(), signal });
    return posted.ok ? { ok: true, value: "loading" } : posted;
  }

  const verify = (engineId: string, model: string, options: StepOptions): Promise<Answer<string>> =>
    waitUntil(
      async (): Promise<Look> => {
        const cluster = await readCluster(options.signal);
        if (!cluster.ok) return { waiting: cluster.message };
        const engine = cluster.value.engines.find((one) => one.id === engineId);
        return engine === undefined
          ? { failed: `${engineId} is gone: it died while loading.` }
          : verifyEngine(engine.url, model, options.signal);
      },
      { ...options, limitMs: loadLimitMs },
    );

  async function drain(engineId: string, options: StepOptions): Promise<Answer<string>> {
    let inFlight = 0;
    const drained = await waitUntil(
      async (): Promise<Look> => {
        const status = await gateway("/status", { schema: gatewayStatusSchema, signal: options.signal });
        if (!status.ok) return { waiting: status.message };
        inFlight = status.value.value?.replicas.find((one) => one.id === engineId)?.inFlight ?? 0;
        return inFlight === 0 ? { holds: "nothing in flight" } : { waiting: `${inFlight} requests in flight` };
      },
      { ...options, limitMs: drainLimitMs },
    );
    // Past the deadline the requests are cut, and the step says so.
    return drained.ok ? drained : { ok: true, value: `deadline passed with ${inFlight} requests in flight` };
  }

  async function stop(engineId: string, options: StepOptions): Promise<Answer<string>> {
    const path = `/engines/${encodeURIComponent(engineId)}`;
    const gone = await emulator(path, { method: "DELETE", schema: z.unknown(), signal: options.signal, alsoFine: [404] });
    if (!gone.ok) return gone;
    return waitUntil(
      async (): Promise<Look> => {
        const cluster = await readCluster(options.signal);
        if (!cluster.ok) return { waiting: cluster.message };
        return cluster.value.engines.some((one) => one.id === engineId) ? { waiting: "it is ending" } : { holds: "its GPUs are free" };
      },
      { ...options, limitMs: stopLimitMs },
    );
  }

  async function applyStep(action: StepAction, options: StepOptions): Promise<Answer<string>> {
    switch (action.kind) {
      case "load-outcomes":
        return loadOutcomes(action.workloadId, options.signal);
      case "start":
        return start(action.engine, options.signal);
      case "verify":
        return verify(action.engineId, action.model, options);
      case "switch-policy":
        return route(action.routing, options.signal);
      case "drain": {
        const routed = await route(action.routing, options.signal);
        return routed.ok ? drain(action.engineId, options) : routed;
      }
      case "stop": {
        const routed = await route(action.routing, options.signal);
        return routed.ok ? stop(action.engineId, options) : routed;
      }
    }
  }

  return { emulated: true, observe, applyStep };
}

const observed = ({ id, model, gpu, tp, pp, placements, url, state }: EmulatedCluster["engines"][number]): ObservedEngine => ({
  id,
  model,
  gpu,
  tp,
  pp,
  placements,
  url,
  stopping: state === "stopping",
});
