import type { LabRun, LabRunSummary, LabSpec, LabState, LabWorkflow } from "@/server/contracts/studio";
import type { Tone } from "../ui/Badge";
import { formatCount, formatCounted, formatRate } from "../ui/format";
import { shapesOf } from "./prepareWorkflow";

type Sized = Pick<LabWorkflow, "name" | "stages" | "otherShapes">;

/** Requests of a program under a mix: the stages of its workflows' shapes, by their shares. null while the workflows are not known. */
function requestsEach(spec: LabSpec, workflows: readonly Sized[]): number | null {
  let [weight, stages] = [0, 0];
  for (const { workflow, share } of spec.mix) {
    const known = workflows.find(({ name }) => name === workflow);
    if (known === undefined) return null;
    weight += share;
    stages += share * shapesOf(known).reduce((sum, shape) => sum + shape.share * shape.stages.length, 0);
  }
  return stages / weight;
}

/** The size of a run before it starts: cells, and requests in all of them. */
export function runSize(spec: LabSpec, workflows: readonly Sized[]): { readonly cells: number; readonly text: string } {
  const cells = spec.systems.length * spec.rates.length * spec.seeds.length;
  const each = requestsEach(spec, workflows);
  const requests = each === null ? null : Math.round(cells * spec.programs * each);
  const grid = `${formatCounted(spec.systems.length, "system")} × ${formatCounted(spec.rates.length, "rate")} × ${formatCounted(spec.seeds.length, "seed")} = ${formatCounted(cells, "cell")}`;
  return { cells, text: requests === null ? grid : `${grid}, about ${formatCount(requests)} requests` };
}

export const stateTones: Readonly<Record<LabState, Tone>> = {
  ...{ running: "accent", done: "good", cancelled: "warn", interrupted: "warn", failed: "bad" },
};

/** The progress of a run, in a line. */
export function progressText(run: Pick<LabRun, "state" | "cellsAll" | "doing"> & { readonly cellsDone: number }): string {
  const cells = `${formatCount(run.cellsDone)} of ${formatCounted(run.cellsAll, "cell")}`;
  if (run.state === "running") return `${run.doing ?? "Queued"}: ${cells} done`;
  return run.cellsDone === run.cellsAll ? `all ${formatCounted(run.cellsAll, "cell")} done` : `${cells} there`;
}

type Raced = Pick<LabRunSummary, "systemsAll" | "workloadName" | "rates" | "programs" | "seeds" | "correlation">;

/** A run in a line of a list: its systems and workload, with the same counts as on the page that started it. */
export function summaryText({ workloadName, systemsAll, rates, programs, seeds, correlation }: Raced): string {
  const [low, high] = [Math.min(...rates), Math.max(...rates)];
  const rateText = low === high ? `rate ${formatRate(low)}` : `rates ${formatRate(low).replace("/s", "")} to ${formatRate(high)}`;
  const size = `${formatCounted(programs, "program")} × ${formatCounted(seeds.length, "seed")}`;
  return `${workloadName}: ${formatCounted(systemsAll, "system")}, ${rateText}, ${size}, correlation ${correlation}`;
}

/** What is missing from the displayed figures, in a sentence; null where nothing is. */
export function partialNote(run: Pick<LabRun, "state" | "cells" | "cellsAll">): string | null {
  if (run.cells.length >= run.cellsAll) return null;
  const missing = formatCounted(run.cellsAll - run.cells.length, "cell");
  return run.state === "running"
    ? `${missing} still to come; figures and intervals cover the finished ones.`
    : `${missing} did not run; figures and intervals cover the finished ones.`;
}

/**
 * One digest for a whole run, 64 hex digits: equal where the times and models of all cells are. Cells count in the order of the
 * description, in whatever order they finished; empty where there are none.
 */
export function runDigest(run: Pick<LabRun, "cells">): string {
  let digits: readonly number[] = [];
  const ordered = [...run.cells].sort((a, b) => a.system - b.system || a.rate - b.rate || a.seed - b.seed);
  if (ordered.length > 0) digits = Array.from({ length: 64 }, () => 0);
  for (const { digest } of ordered) {
    const before = digits;
    // Rotated and scaled with every cell, so that two that change places, or two equal ones, do not cancel out.
    digits = before.map((_, at) => ((before[(at + 1) % 64] ?? 0) * 5 + Number.parseInt(digest[at] ?? "0", 16)) % 16);
  }
  return digits.map((digit) => digit.toString(16)).join("");
}
