import { z } from "zod";
import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { RehearsedStep } from "@/server/contracts/studio";
import type { StepAction } from "@/server/store/documents/storedStep";
import { confidencePredictorOf, learntOf } from "@/solver/plan/policySchema";
import type { EncoderIdentity } from "@/solver/prediction/confidence";
import type { AdminClient } from "../connector/adminClient";
import type { Answer } from "../connector/connector";
import type { EngineHost } from "../connector/engineHost";
import { missingPredictors } from "../connector/uploadPredictors";
import { verifyEngine } from "../connector/verifyEngine";
import { placeText } from "../steps/targetEngines";
import { plannedRouting } from "./plannedRouting";
import type { RollOutContext } from "./rollOutContext";

interface RehearsalWays {
  readonly host: Pick<EngineHost, "rehearse">;
  readonly gateway: AdminClient;
  /** Bytes of a saved predictor; null if it is no longer saved. */
  readonly artefactOf: (hash: string) => Uint8Array | null;
  /** The encoder whose embeddings a predictor reads; null if it reads words, or is not saved. */
  readonly encoderOf: (hash: string) => EncoderIdentity | null;
}

/**
 * The steps of a roll-out without any write: the start of an engine is rehearsed as far as its host can, an existing one is verified, and
 * each configuration of the gateway is checked by the gateway itself. What can only be seen during the roll-out is stated in words.
 */
export async function rehearseSteps(
  ground: RollOutContext,
  { host, gateway, artefactOf, encoderOf }: RehearsalWays,
  signal: AbortSignal,
): Promise<readonly RehearsedStep[]> {
  const started: EngineOrder[] = [];
  const rehearsed: RehearsedStep[] = [];
  for (const [index, { action }] of ground.steps.entries()) {
    signal.throwIfAborted();
    if (action.kind === "start") started.push(action.engine);
    const tried = await rehearse(action);
    rehearsed.push({ stepId: String(index + 1), ok: tried.ok, says: tried.ok ? tried.value : tried.message });
  }
  return rehearsed;

  async function rehearse(action: StepAction): Promise<Answer<string>> {
    switch (action.kind) {
      case "load-outcomes":
        return { ok: true, value: "Emulated engines would be given the workload's held-out prompts." };
      case "start": {
        const { engine } = action;
        if (host.rehearse !== undefined) return host.rehearse(engine, { signal, report: () => undefined, planId: ground.target.id });
        return {
          ok: true,
          value: `${engine.id} would be started on ${placeText(engine)}; here that is one call, which cannot be tried before.`,
        };
      }
      case "verify":
        return verify(action);
      case "switch-policy":
        return route(action);
      case "drain": {
        const routed = await route(action);
        return routed.ok ? { ok: true, value: `${routed.value} Then what ${action.engineId} has is waited for, 600 s at most.` } : routed;
      }
      case "stop": {
        const routed = await route(action);
        return routed.ok ? { ok: true, value: `${routed.value} Then ${action.engineId} would be ended.` } : routed;
      }
    }
  }

  /** Verifying an existing engine changes nothing. */
  async function verify({ engineId, model }: Extract<StepAction, { readonly kind: "verify" }>): Promise<Answer<string>> {
    const engine = ground.observation.engines.find(({ id }) => id === engineId);
    if (engine === undefined)
      return { ok: true, value: `${engineId} would be asked for its health, its list of models and one token of ${model}.` };
    const look = await verifyEngine(engine, model, signal);
    if ("holds" in look) return { ok: true, value: `${engineId} is ${look.holds}.` };
    return { ok: false, message: "failed" in look ? look.failed : look.waiting };
  }

  async function route({ routing }: Extract<StepAction, { readonly routing: unknown }>): Promise<Answer<string>> {
    const config = plannedRouting(ground, routing, started);
    if (config === null) return { ok: true, value: "Nothing is in force, and nothing would be." };
    const lacking = await missingPredictors(config.policy, { gateway, artefactOf, signal });
    if (!lacking.ok) return lacking;
    // They would be uploaded before it.
    const coming = learntOf(config.policy);
    const asked = new URLSearchParams(coming.length === 0 ? {} : { with: coming.join(",") });
    const encoder = encoderOf(confidencePredictorOf(config.policy) ?? "");
    if (encoder !== null) asked.set("encoder", `${encoder.sha256}:${encoder.name}`);
    const path = `/config/validate?${asked}`;
    const checked = await gateway(path, { method: "POST", body: config, schema: z.unknown(), signal, alsoFine: [404] });
    if (!checked.ok) return checked;
    const active = config.replicas.filter(({ state }) => state === "active").length;
    const would = `Requests would go to ${active} engine${active === 1 ? "" : "s"}`;
    if (checked.value.status === 404)
      return { ok: true, value: `${would}; this gateway is too old to be asked whether it would serve that.` };
    return { ok: true, value: `${would}, which the gateway would serve.` };
  }
}
