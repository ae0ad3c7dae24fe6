import { type GatewayConfig, gatewayConfigSchema } from "@/server/contracts/gateway/gatewayAdmin";
import type { Plan } from "@/solver/plan/plan";
import { planMismatch } from "../apply/planMismatch";
import { rollOutOf } from "../apply/rollOutOf";
import type { AdminClient } from "../connector/adminClient";
import type { Answer, Connector, Observation } from "../connector/connector";
import type { EngineHost } from "../connector/engineHost";
import { type PlannedStep, planSteps, type RollOut } from "../steps/planSteps";

/** A plan on a cluster, and the roll-out from its present state. */
export interface RollOutContext {
  readonly target: Plan;
  readonly observation: Observation;
  /** The gateway's configuration; null: none. */
  readonly config: GatewayConfig | null;
  /** The host's judge, for policies without a judge among their engines. */
  readonly judge: GatewayConfig["judge"];
  readonly rollOut: RollOut;
  readonly steps: readonly PlannedStep[];
}

/** Observes a cluster and plans the roll-out; a sentence if it cannot be observed or the plan does not fit it. */
export async function rollOutContext(
  { connector, host, gateway }: { readonly connector: Connector; readonly host: EngineHost; readonly gateway: AdminClient },
  target: Plan,
  signal?: AbortSignal,
): Promise<Answer<RollOutContext>> {
  const [observed, found, config] = await Promise.all([
    connector.observe(signal),
    host.observe({ signal }),
    gateway("/config", { schema: gatewayConfigSchema, signal, alsoFine: [404] }),
  ]);
  if (!observed.ok) return observed;
  if (!found.ok) return found;
  if (!config.ok) return config;
  const unfit = planMismatch(observed.value, target);
  if (unfit !== null) return { ok: false, message: unfit };
  const rollOut = rollOutOf(observed.value, target, connector.emulated);
  const steps = planSteps(rollOut);
  return {
    ok: true,
    value: { target, observation: observed.value, config: config.value.value, judge: found.value.judge, rollOut, steps },
  };
}
