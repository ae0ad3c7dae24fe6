import type { LiveFrame } from "@/server/contracts/studio";
import { cascadeOf, modelsOf } from "@/solver/plan/policySchema";

/** A cascade with stages that have no engine that accepts requests. */
export interface LostCascade {
  readonly lost: readonly { readonly model: string; readonly sinceMs: number }[];
  /** Models of the remaining stages, in their order. */
  readonly left: readonly string[];
  readonly lowerMayAnswer: boolean;
  /** What happens to requests, in a sentence. */
  readonly says: string;
}

/**
 * Polling interval of the prediction for the remaining cascade: it is simulated at the current rate, which changes while a stage is lost.
 */
export const remainingRefresh = { staleTime: 30_000, refetchInterval: 30_000 } as const;

/**
 * The lost stages of the cascade in force, also of one for requests outside workflows alone, as the gateway reports them; null where there
 * are none, or there is no cascade.
 */
export function lostCascadeOf({ gateway: { routing } }: LiveFrame): LostCascade | null {
  const cascade = routing === null ? null : cascadeOf(routing.policy);
  if (routing === null || cascade === null) return null;
  const stages = modelsOf(cascade);
  const lost = (routing.lostStages ?? []).filter(({ model }) => stages.includes(model));
  if (lost.length === 0) return null;
  const left = stages.filter((model) => lost.every((stage) => stage.model !== model));
  const who = routing.policy.kind === "just-in-time" ? "Outside workflows: " : "";
  const lowerMayAnswer = (routing.controls?.strictStages ?? null) === null;
  return { lost, left, lowerMayAnswer, says: `${who}${saysOf({ stages, left, lowerMayAnswer })}` };
}

function saysOf({
  stages,
  left,
  lowerMayAnswer,
}: { readonly stages: readonly string[] } & Pick<LostCascade, "left" | "lowerMayAnswer">): string {
  const largest = left.at(-1);
  if (largest === undefined) return "No stage is left: every request is answered 503 with a Retry-After header.";
  if (largest === stages.at(-1)) return "Requests continue at the next larger stage that is left.";
  return lowerMayAnswer
    ? `No larger stage than ${largest} is left: its answers are returned even if their score is below the threshold, marked lower-stage.`
    : `No larger stage than ${largest} is left: requests whose answers score below the threshold are answered 503, because strict stages are on.`;
}
