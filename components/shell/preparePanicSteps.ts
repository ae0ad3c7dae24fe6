import type { Panic } from "@/server/contracts/studio";
import { formatCounted, formatDate } from "../ui/format";

/** What an operator is told before a panic is ordered, a sentence each. */
export function preparePanicSteps({ model, engines }: { readonly model: string; readonly engines: number }): readonly string[] {
  return [
    `Every request for text goes to ${model}, whichever model it names, judged by nobody.`,
    "Requests that wait begin anew there. An engine finishes the answer it is at; where the policy would have escalated it, the request goes on to that model.",
    `${formatCounted(engines, "engine")} must then carry all of it: what finds no room waits, and beyond the bound of the queue it is refused with 429.`,
    `A canary is withdrawn. A plan that is being applied goes on, but stops before it would take the last engine of ${model}.`,
    "Embeddings, keys, limits and deadlines stay as they are. The gateway keeps to it over a restart, without the studio too.",
    "To undo it: Lift panic in the red bar on every page, or weir panic --lift. Requests then go by the policy in force again.",
  ];
}

/** The panic that stands, and that another one takes its place. */
export function standingPanic({ model, reason, by, sinceMs }: Panic): string {
  const why = reason === "" ? "" : ` (${reason})`;
  return `A panic stands already: everything goes to ${model}, ordered by ${by} at ${formatDate(new Date(sinceMs).toISOString())}${why}. Another one replaces its model and its reason.`;
}

/** The same order on the gateway's own machine, in the words of a shell. */
export function panicCommand(model: string, reason: string): string {
  const why = reason.trim() === "" ? "WHY" : `'${reason.trim().replaceAll("'", `'\\''`)}'`;
  return `weir panic ${model} --reason ${why}`;
}
