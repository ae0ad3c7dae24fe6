import type { Answer, Observation } from "@/server/clusters/connector/connector";
import { targetEngines } from "@/server/clusters/steps/targetEngines";
import type { ClusterSummary, LiveFrame } from "@/server/contracts/studio";
import type { Plan } from "@/solver/plan/plan";

export interface HealthGround {
  readonly latest: Answer<Observation>;
  /** Applied last, whether or not it is kept; null: none. */
  readonly runningPlanId: string | null;
  /** That plan; null where it is not kept, or where a roll-out is at work on its engines. */
  readonly plan: Plan | null;
  /** Name of the batch that runs there; null: none. */
  readonly batch: string | null;
  /** Engines as telemetry heard them last. */
  readonly heard: LiveFrame["engines"];
}

/** How a cluster is, in a word and a sentence: whether it can be looked at, and whether all engines that should serve are there and answer. */
export function clusterHealth({ latest, runningPlanId, plan, batch, heard }: HealthGround): ClusterSummary["health"] {
  if (!latest.ok) return { state: "down", reason: latest.message };
  const { routing, engines } = latest.value;
  const wanted = new Set([...routing.active, ...(plan === null ? [] : targetEngines(plan).map(({ id }) => id))]);
  const missing = [...wanted].filter((id) => !engines.some((engine) => engine.id === id));
  if (missing.length > 0) return { state: "degraded", reason: `${missing.join(", ")} should serve and is gone.` };
  if (routing.planId !== runningPlanId) return { state: "degraded", reason: "The gateway follows another plan than the one applied last." };
  const silent = heard.filter(({ id, state }) => state === "unreachable" && routing.active.includes(id)).map(({ id }) => id);
  if (silent.length > 0) return { state: "degraded", reason: `${silent.join(", ")} should serve and does not answer.` };
  const serving = routing.active.length === 1 ? "One engine serves." : `${routing.active.length} engines serve.`;
  const inForce = routing.planId === null ? "No plan is in force." : serving;
  return { state: "up", reason: batch === null ? inForce : `${inForce} The batch "${batch}" runs here.` };
}
