import type { Outputs } from "../api/trpc";
import { formatScore } from "../ui/format";

type Decision = Outputs["live"]["decisions"][number];
type Stage = Decision["stages"][number];

/** Why a request was turned away before its first stage, by the status its client got. */
const SHED: Readonly<Record<number, string>> = {
  429: "shed: the queue was full",
  499: "its client left while it waited",
  503: "shed: no engine took work, or the gateway was closing",
  504: "its deadline passed while it waited",
};

/** Whether an answer was taken without the score its threshold asks for. */
const isUnjudged = ({ verdict, reason }: Stage): boolean => verdict === "accepted" && reason.startsWith("judge-unavailable");

function step(stage: Stage): string {
  if (stage.verdict === "failed") return `${stage.model} failed`;
  if (isUnjudged(stage)) return `${stage.model} not judged`;
  return stage.judgedScore === null ? stage.model : `${stage.model} ${formatScore(stage.judgedScore)}`;
}

/** A request's way through the cascade in a line. `note`: what of it the quality floor does not cover, or why there was no way. */
export function prepareDecision({ stages, status }: Pick<Decision, "stages" | "status">): {
  readonly path: string;
  readonly note: string | null;
} {
  if (stages.length === 0) return { path: "", note: SHED[status] ?? `shed with status ${status}` };
  return { path: stages.map(step).join(" → "), note: stages.some(isUnjudged) ? "accepted without a judge" : null };
}
