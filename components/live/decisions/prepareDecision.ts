import { formatScore } from "@/components/ui/format";
import type { LiveEvent } from "@/server/contracts/studio";
import { isUnjudged } from "@/solver/gates/gates";

/** The record of one answered request. */
export type Decision = Extract<LiveEvent, { readonly kind: "decisions" }>["records"][number];
export type Stage = Decision["stages"][number];

/** Statuses of requests that ended in the queue rather than being rejected at admission. */
const ENDED_WAITING: Readonly<Record<number, string>> = { 499: "client disconnected", 504: "timed out" };

/** What gave an accepted answer no score. */
const missing = ({ gate }: Stage): string => (gate === undefined || gate.kind === "judge" ? "a judge" : "a score");

function step(stage: Stage): string {
  if (stage.verdict === "failed") return `${stage.model} failed`;
  if (isUnjudged(stage)) return `${stage.model} not judged`;
  return stage.judgedScore === null ? stage.model : `${stage.model} ${formatScore(stage.judgedScore)}`;
}

/** A request's path through the cascade in a line, or the gateway's reason where there was none. `note`: anything unusual. */
export function prepareDecision({ stages, status, reason }: Pick<Decision, "stages" | "status" | "reason">): {
  readonly path: string;
  readonly note: string | null;
} {
  if (stages.length === 0) return { path: reason, note: ENDED_WAITING[status] ?? "shed" };
  const unjudged = stages.find(isUnjudged);
  return { path: stages.map(step).join(" → "), note: unjudged === undefined ? null : `accepted without ${missing(unjudged)}` };
}
