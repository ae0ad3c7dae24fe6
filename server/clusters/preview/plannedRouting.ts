import type { EngineOrder } from "@/server/contracts/engine/engineOrder";
import type { GatewayConfig } from "@/server/contracts/gateway/gatewayAdmin";
import type { GatewayRouting } from "@/server/store/documents/storedStep";
import type { ObservedEngine } from "../connector/connector";
import { gatewayConfig } from "../connector/gatewayRouting";
import type { RollOutContext } from "./rollOutContext";

/** Placeholder URL of an engine that is not started yet, whose address is unknown. The name is reserved and never resolves. */
const notStartedUrl = "http://not-started.invalid";

/** The configuration that a step of a roll-out would write, with a placeholder URL for engines that do not exist yet; null: none. */
export function plannedRouting(
  { target, observation, config, judge }: Pick<RollOutContext, "target" | "observation" | "config" | "judge">,
  routing: GatewayRouting,
  started: readonly EngineOrder[],
): GatewayConfig | null {
  const { engines, timeScale } = observation;
  const coming = started.filter(({ id }) => engines.every((engine) => engine.id !== id));
  const all: readonly ObservedEngine[] = [...engines, ...coming.map((engine) => ({ ...engine, url: notStartedUrl, stopping: false }))];
  const plan = routing.planId === target.id ? target : null;
  return gatewayConfig({ routing, plan, engines: all, judge, timeScale, current: config });
}
