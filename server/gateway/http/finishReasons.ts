import type { FinishReason } from "@/server/contracts/gateway/gatewayAdmin";
import { finishReasons } from "@/server/contracts/gateway/gatewayAdmin";
import { isRecord } from "@/solver/collections/isRecord";

/** Choices of one answer whose reasons are kept. */
const mostReasons = 16;

/** Why the choices of a completion, or of an event of a stream, ended, in their order; a choice that goes on has none. */
export function finishReasonsOf(completion: unknown): readonly FinishReason[] {
  const reasons: FinishReason[] = [];
  if (!isRecord(completion) || !Array.isArray(completion.choices)) return reasons;
  for (let at = 0; at < completion.choices.length && at < mostReasons; at += 1) {
    const choice: unknown = completion.choices[at];
    const reason = isRecord(choice) ? choice.finish_reason : undefined;
    if (typeof reason === "string") reasons.push(known(reason));
  }
  return reasons;
}

/** Adds the reasons of a stream's next event. */
export const joinedReasons = (reasons: readonly FinishReason[], more: readonly FinishReason[]): readonly FinishReason[] =>
  more.length === 0 ? reasons : [...reasons, ...more].slice(0, mostReasons);

/** An engine's own word is not kept: it may be any text. */
const known = (reason: string): FinishReason => finishReasons.find((one) => one === reason) ?? "other";
