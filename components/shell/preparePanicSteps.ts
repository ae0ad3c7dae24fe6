import type { Panic } from "@/server/contracts/studio";
import { shellWords } from "@/solver/wording/shellText";
import { formatCounted, formatDate } from "../ui/format";
import { sizeInName } from "../ui/modelIdentity";

/** The default model of a panic: the largest by its name, because its answers need no judge; the last where names have no size. */
export function panicModel<Model extends { readonly model: string }>(models: readonly Model[]): Model | null {
  const size = ({ model }: Model): number => sizeInName(model) ?? 0;
  return models.reduce<Model | null>((best, each) => (best !== null && size(best) > size(each) ? best : each), null);
}

/** The effects of a panic, one sentence each, shown before it is started. */
export function preparePanicSteps({ model, engines }: { readonly model: string; readonly engines: number }): readonly string[] {
  return [
    `Every text request goes to ${model}, whichever model it names, without a judge.`,
    "Waiting requests restart there. An engine finishes its current answer; if the policy would have escalated it, the request continues at that model.",
    `${formatCounted(engines, "engine")} must then serve all requests: excess requests wait, and when the queue is full they are refused with 429.`,
    `A canary is withdrawn. A plan that is being applied goes on, but stops before it would take the last engine of ${model}.`,
    "Embeddings, keys, limits and deadlines stay as they are. The panic survives a restart of the gateway, also without the studio.",
    "To undo it: Clear panic in the red bar on every page, or weir panic --clear. The policy in force then routes requests again.",
  ];
}

/** The current panic, and a note that a new one replaces it. */
export function standingPanic({ model, reason, by, sinceMs }: Panic): string {
  const why = reason === "" ? "" : ` (${reason})`;
  return `A panic is already in effect: everything goes to ${model}, ordered by ${by} at ${formatDate(new Date(sinceMs).toISOString())}${why}. Another one replaces its model and its reason.`;
}

/** The same command for a shell on the gateway's machine. */
export function panicCommand(model: string, reason: string): string {
  return shellWords(["weir", "panic", model, "--reason", reason.trim() || "WHY"]);
}
