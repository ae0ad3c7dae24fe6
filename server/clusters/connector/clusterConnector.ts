import { z } from "zod";
import { gatewayConfigSchema, gatewayStatusSchema } from "@/server/contracts/gateway/gatewayAdmin";
import { partsOf } from "@/server/contracts/gateway/signedOrder";
import type { GatewayRouting, StepAction } from "@/server/store/documents/storedStep";
import type { Plan } from "@/solver/plan/plan";
import { logProbabilityGates } from "@/solver/plan/planGates";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import type { AdminAnswer, AdminClient } from "./adminClient";
import { awaitEngine, defaultLoadLimitMs } from "./awaitEngine";
import type { Answer, Connector, Observation, StepOptions } from "./connector";
import type { EngineHost } from "./engineHost";
import { gatewayConfig, keptSettings, routedModelsOf, routingOf } from "./gatewayRouting";
import { probeLogProbabilities } from "./probeLogProbabilities";
import { type SilenceFound, silentGateObstacle } from "./silentModels";
import { effectOf } from "./stepEffect";
import { missingPredictors, uploadPredictors } from "./uploadPredictors";
import { type Look, waitUntil } from "./waitUntil";

/** The longest time of a request at the gateway: after it none can be in flight. */
const drainLimitMs = 600_000;

/** The effect of a step is visible at once, or within seconds if there is a control plane in between. */
const effectLimitMs = 5_000;

/** A gateway that was restarted is back within this time: until then a step waits for it. */
const gatewayLimitMs = 60_000;

/** A cluster that is only observed is observed again soon; a hanging process must be detected within seconds. */
const observeLimitMs = 4_000;

/** Another writer changed the gateway's configuration between read and write; it is read again this often. */
const writeAttempts = 3;

/** `If-Match` for a gateway that has no configuration yet. */
const noConfigEtag = '"none"';

export interface ConnectorParts {
  readonly host: EngineHost;
  readonly gateway: AdminClient;
  /** A saved plan; null if it is no longer saved. */
  readonly planOf: (id: string) => Plan | null;
  /** Bytes of a saved predictor; null if it is no longer saved. Absent: none is. */
  readonly artefactOf?: (hash: string) => Uint8Array | null;
  /** Models whose engines are known not to report log probabilities. Absent: none. */
  readonly silentModels?: () => readonly string[];
  /** Time limit for an engine to answer. */
  readonly loadLimitMs?: number;
}

/** A cluster of engines that `host` starts and ends, behind one gateway. */
export function createConnector({
  host,
  gateway,
  planOf,
  artefactOf = () => null,
  silentModels = () => [],
  loadLimitMs = defaultLoadLimitMs,
}: ConnectorParts): Connector {
  const emulated = host.loadOutcomes !== undefined;
  const readConfig = (signal?: AbortSignal, limitMs?: number) =>
    gateway("/config", { schema: gatewayConfigSchema, signal, alsoFine: [404], limitMs });

  async function observe(signal?: AbortSignal): Promise<Answer<Observation>> {
    const [found, config] = await Promise.all([host.observe({ signal, limitMs: observeLimitMs }), readConfig(signal, observeLimitMs)]);
    if (!found.ok) return found;
    if (!config.ok) return config.failure === "answered" ? config : { ...config, kind: "gateway-away" };
    const { judge, ...rest } = found.value;
    const routing = routingOf(config.value.value);
    const policyModels = routing.planId === null || config.value.value === null ? [] : routedModelsOf(config.value.value);
    return { ok: true, value: { ...rest, judge, isJudged: judge !== null, routing, policyModels } };
  }

  async function predictorObstacle(policy: PolicyDocument, signal?: AbortSignal): Promise<string | null> {
    const lacking = await missingPredictors(policy, { gateway, artefactOf, signal });
    return lacking.ok ? null : lacking.message;
  }

  async function gateObstacle(policy: PolicyDocument, signal?: AbortSignal): Promise<string | null> {
    const asked = [...new Set(logProbabilityGates(policy).map(({ model }) => model))];
    if (asked.length === 0) return null;
    const silent = new Map<string, SilenceFound>(silentModels().map((model) => [model, "profile"]));
    const found = await host.observe({ signal, limitMs: observeLimitMs });
    const engines = found.ok ? found.value.engines.filter(({ stopping }) => !stopping) : [];
    await Promise.all(
      asked.map(async (model) => {
        const engine = engines.find((one) => one.model === model);
        const probed = engine === undefined ? "unknown" : await probeLogProbabilities(engine, signal);
        // What an engine shows now counts more than what a profile found.
        if (probed === "silent") silent.set(model, "request");
        else if (probed === "reports") silent.delete(model);
      }),
    );
    signal?.throwIfAborted();
    return silentGateObstacle(policy, silent);
  }

  /** Waits for a gateway that does not listen, but not for one that answers with a refusal. */
  const route = (routing: GatewayRouting, options: StepOptions): Promise<Answer<string>> =>
    waitUntil(
      async (): Promise<Look> => {
        const written = await writeRouting(routing, options.signal);
        if (written.ok) return { holds: written.value };
        return "failure" in written && written.failure !== "answered" ? { waiting: written.message } : { failed: written.message };
      },
      { ...options, limitMs: gatewayLimitMs },
    );

  async function writeRouting(routing: GatewayRouting, signal: AbortSignal): Promise<Answer<string> | AdminAnswer<string>> {
    const plan = routing.planId === null ? null : planOf(routing.planId);
    let refusal: Answer<string> = { ok: false, message: "The gateway's configuration kept changing under this step." };
    for (let attempt = 0; attempt < writeAttempts; attempt += 1) {
      const [found, current] = await Promise.all([host.observe({ signal }), readConfig(signal)]);
      if (!found.ok) return found;
      if (!current.ok) return current;
      if (plan === null && routing.planId !== null && routing.planId !== current.value.value?.planId) {
        return { ok: false, message: `Plan ${routing.planId} is not kept any more.` };
      }
      const { engines, judge, timeScale } = found.value;
      const gone = routing.active.filter((id) => !engines.some((engine) => engine.id === id && !engine.stopping));
      // Otherwise the gateway would be configured without it, and engines that still serve would be drained for it.
      if (gone.length > 0)
        return { ok: false, message: `${gone.join(", ")} should get requests and is gone or ending: routing is left as it is.` };
      const config = gatewayConfig({ routing, plan, engines, judge, timeScale, silent: silentModels(), current: current.value.value });
      if (config === null) return { ok: true, value: "nothing was in force" };
      const brought = await uploadPredictors(config.policy, { gateway, artefactOf, signal });
      if (!brought.ok) return brought;
      const headers = { "if-match": current.value.etag ?? noConfigEtag };
      const body = { ...config, by: "studio", reason: "a step of an application" };
      const parts = partsOf(keptSettings(config, current.value.value));
      const written = await gateway("/config", { method: "PUT", body, headers, parts, schema: z.unknown(), signal, alsoFine: [412] });
      if (!written.ok) return written;
      const count = config.replicas.filter((replica) => replica.state === "active").length;
      if (written.value.status !== 412) return { ok: true, value: `requests go to ${count} engine${count === 1 ? "" : "s"}` };
      refusal = { ok: false, message: "Another client keeps changing the gateway's configuration." };
    }
    return refusal;
  }

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
    // Past the deadline the requests are aborted, and the step reports that.
    return drained.ok ? drained : { ok: true, value: `deadline passed with ${inFlight} requests in flight` };
  }

  async function applyStep(action: StepAction, options: StepOptions): Promise<Answer<string>> {
    switch (action.kind) {
      case "load-outcomes":
        return host.loadOutcomes?.(action.workloadId, options) ?? { ok: true, value: "engines are real" };
      case "start":
        return host.start(action.engine, options);
      case "verify":
        return awaitEngine(host, { id: action.engineId, model: action.model }, { ...options, limitMs: loadLimitMs });
      case "switch-policy":
        return route(action.routing, options);
      case "drain": {
        const routed = await route(action.routing, options);
        return routed.ok ? drain(action.engineId, options) : routed;
      }
      case "stop": {
        const routed = await route(action.routing, options);
        return routed.ok ? host.stop(action.engineId, options) : routed;
      }
    }
  }

  function verifyStep(action: StepAction, options: StepOptions): Promise<Answer<string>> {
    /** Start of the time in which it was not found. */
    let sinceMs: number | null = null;
    const look = async (): Promise<Look> => {
      const observation = await observe(options.signal);
      const status = await gateway("/status", { schema: gatewayStatusSchema, signal: options.signal, limitMs: observeLimitMs });
      if (!observation.ok || !status.ok) {
        sinceMs = null;
        const messages = new Set([observation, status].flatMap((one) => (one.ok ? [] : one.message)));
        return { waiting: [...messages].join(" ") };
      }
      const inFlightAt = (id: string) => status.value.value?.replicas.find((replica) => replica.id === id)?.inFlight ?? 0;
      const seen = effectOf(action, { observation: observation.value, inFlightAt }, emulated);
      if (!("waiting" in seen)) return seen;
      sinceMs ??= Date.now();
      return Date.now() - sinceMs < effectLimitMs ? seen : { failed: `${seen.waiting}.` };
    };
    return waitUntil(look, { ...options, limitMs: gatewayLimitMs });
  }

  return { emulated, observe, predictorObstacle, gateObstacle, applyStep, verifyStep };
}
