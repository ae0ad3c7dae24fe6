import table from "./cases.json" with { type: "json" };

/** Questions whose answers are numbers (grade-school maths), or values of a program (code). */
export type GateTask = "gsm" | "crux";

/** Two models of a ladder on one task, a small model that answers beside the first, and floors between the two's qualities. */
export interface GateLadder {
  readonly name: string;
  readonly task: GateTask;
  readonly model: string;
  readonly next: string;
  readonly peer: string;
  /** Mean quality of what is served, 0..100. */
  readonly floors: readonly number[];
}

/**
 * Chosen by families, sizes and published accuracies before any run; crux, the second task, was added after runs of gsm, with floors at two, three
 * and four fifths of the way between the published accuracies.
 */
export const gateLadders: readonly GateLadder[] = table.map((ladder) => ({ ...ladder, task: taskOf(ladder) }));

/** Ladders that plans are made for: those that were written down before any plan. */
export const plannedLadders = gateLadders.filter(({ task }) => task === "gsm");

function taskOf({ name, task }: { readonly name: string; readonly task: string }): GateTask {
  if (task !== "gsm" && task !== "crux") throw new Error(`${name}: no task ${task}`);
  return task;
}

/** A table of outcomes whose answers a judge has scored, and floors likewise: GPT-4-turbo gates, GPT-4o's scores are the labels. */
export const scoredLadder = { name: "Gemma 2B, 7B, WildBench", family: "Gemma-it", task: "wildbench", floors: [45, 47, 48] } as const;
