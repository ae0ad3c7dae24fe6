import type { Decision } from "@/server/contracts/gateway/gatewayAdmin";
import type { Plan } from "@/solver/plan/plan";
import type { WorkflowDocument } from "@/solver/plan/workflowDocument";
import { meanInterval, quantileInterval } from "@/solver/workload/driftIntervals";
import { ENOUGH, type Measuring, type PromiseDraft } from "./promiseDraft";

const TIME_BASIS = {
  singles: "the plan's band, in proportion",
  programs: "from a program's first call to its last answer, with what its client takes between calls; the plan's band, in proportion",
} as const;

/**
 * Latency of each class of a mix, and quality of its single requests, as a plan for a mix promises them. The quality of programs is not known
 * here: labels are of answers.
 *
 * @returns null where the plan was made for no mix.
 */
export function mixPromises({ plan, window: { answered, timeScale }, labelOf }: Measuring): readonly PromiseDraft[] | null {
  const { mix, p95Seconds, p95Band } = plan.predictions;
  const documents = plan.policy.kind === "just-in-time" ? plan.policy.workflows.map(({ workflow }) => workflow) : [];
  if (mix === undefined) return null;
  const singles = answered.filter(({ call }) => call === undefined);
  return mix.classes.flatMap((own): PromiseDraft[] => {
    // Nothing is known of a class of which no program was simulated to its end.
    if (own.simulated === 0) return [];
    const workflow = documents.find(({ name }) => name === own.name);
    const seconds =
      workflow === undefined
        ? singles.map(({ endToEndSeconds }) => endToEndSeconds)
        : programSeconds(answered, { workflow, timeScale, p95Seconds: own.p95Seconds });
    const scale = p95Seconds > 0 ? own.p95Seconds / p95Seconds : 1;
    return [
      {
        ...{ quantity: "class-latency", className: own.name, kind: "seconds", promised: own.p95Seconds, enough: ENOUGH.percentile },
        measured: quantileInterval(seconds, 0.95),
        band: { low: scale * p95Band.low, high: scale * p95Band.high, better: "lower" },
        basis: workflow === undefined ? TIME_BASIS.singles : TIME_BASIS.programs,
      },
      ...(workflow === undefined && own.quality !== null
        ? [
            qualityOf(
              own,
              own.quality,
              singles.flatMap((one) => labelOf(one) ?? []),
            ),
          ]
        : []),
    ];
  });
}

type ClassFigures = NonNullable<Plan["predictions"]["mix"]>["classes"][number];

function qualityOf({ name, plannedQuality }: ClassFigures, promised: number, labels: readonly number[]): PromiseDraft {
  return {
    ...{ quantity: "quality", className: name, kind: "score", promised, measured: meanInterval(labels), enough: ENOUGH.mean },
    band: { low: Math.min(promised, plannedQuality), high: 100, better: "higher" },
    basis:
      labels.length === 0 ? "no label of an answer is known" : `${labels.length} labels of answers; at least the bound that was planned`,
  };
}

interface ProgramsOf {
  readonly workflow: WorkflowDocument;
  /** Engine seconds in a wall second. */
  readonly timeScale: number;
  /** Engine seconds that most programs take: one of which nothing was seen for as long has ended. */
  readonly p95Seconds: number;
}

/**
 * Engine seconds from the first call to the last answer of each whole program of a workflow: one of which every agent that reads nothing and
 * every agent that nobody reads has answered, or was skipped. Programs under way, and those whose beginning is not in the records, are left
 * out.
 *
 * @param answered oldest first.
 */
export function programSeconds(answered: readonly Decision[], { workflow, timeScale, p95Seconds }: ProgramsOf): readonly number[] {
  const read = new Set(workflow.agents.flatMap(({ reads }) => reads));
  const ends = workflow.agents.filter(({ name, reads }) => reads.length === 0 || !read.has(name));
  const settledMs = (answered.at(-1)?.finishedAtMs ?? 0) - (p95Seconds * 1000) / timeScale;
  const programs = new Map<string, Decision[]>();
  for (const decision of answered) {
    const { call, program } = decision;
    if (call?.workflow !== workflow.name || program === undefined) continue;
    const calls = programs.get(program);
    if (calls === undefined) programs.set(program, [decision]);
    else calls.push(decision);
  }
  return [...programs.values()].flatMap((calls) => {
    const agents = new Set(calls.map(({ call }) => call?.agent));
    const last = Math.max(...calls.map(({ finishedAtMs }) => finishedAtMs));
    // Of an agent that may be skipped the records do not tell whether it is still to come.
    if (!ends.every(({ name, skip }) => agents.has(name) || (skip !== undefined && last <= settledMs))) return [];
    const first = Math.min(...calls.map(({ finishedAtMs, endToEndSeconds }) => finishedAtMs - (endToEndSeconds * 1000) / timeScale));
    return [((last - first) / 1000) * timeScale];
  });
}
