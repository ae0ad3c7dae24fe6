import type { LabSystem } from "@/solver/lab/labSpec";
import { MARGINS, suggestedSystems } from "@/solver/lab/suggestedSystems";
import type { SlackPolicy } from "@/solver/plan/policySchema";
import type { Workload } from "@/solver/workload/workload";
import { answersOf, type Ladder, ladders } from "../lib/ladders";
import { bySeed } from "../lib/runCells";
import { figuresOf, type LabRan, LOADS, runLab, spanOf } from "./labRun";

const CORRELATION = 0.5;

const BASELINES = ["vLLM balancing", "MLFQ", "LTR", "STJF oracle"] as const;

const SLACKS = [0, 0.5, 1, 2] as const;

interface Variant extends Pick<LabSystem, "lengths" | "confidence"> {
  readonly name: string;
  readonly slacks: readonly number[];
  readonly margins: readonly number[];
}

/** The parts of Chimera that are replaced by the truth or omitted. Without a router there is one order of the models, and no margin. */
const VARIANTS: readonly Variant[] = [
  { name: "Chimera", lengths: "learnt", confidence: "learnt", slacks: SLACKS, margins: [0, ...MARGINS] },
  { name: "no router", lengths: "learnt", confidence: "none", slacks: SLACKS, margins: [0] },
  { name: "oracle router", lengths: "learnt", confidence: "oracle", slacks: SLACKS, margins: [0.05] },
  { name: "oracle lengths", lengths: "oracle", confidence: "learnt", slacks: [0.5], margins: [0, 0.1] },
  { name: "oracle router and lengths", lengths: "oracle", confidence: "oracle", slacks: [0.5], margins: [0.05] },
];

/** A system's results at a load on a ladder, each figure seed by seed. */
export interface FrontierRow extends Pick<Ladder, "family" | "task"> {
  readonly load: number;
  readonly programsPerSecond: number;
  readonly name: string;
  /** Slack and margin of the route; null where it has none. */
  readonly tau: number | null;
  readonly margin: number | null;
  readonly secondsPerToken: readonly number[];
  readonly makespanSeconds: readonly number[];
  readonly quality: readonly number[];
  readonly queueSeconds: readonly number[];
  /** By model, smallest first: share of the requests, mean over seeds. */
  readonly shares: readonly number[];
  /** Duration of the arrivals as a multiple of a program's time. */
  readonly span: number;
}

/** Latency and quality of Chimera at its slacks and margins, and of its baselines, on every ladder. */
export async function frontier(progress: (line: string) => void): Promise<readonly FrontierRow[]> {
  const rows: FrontierRow[] = [];
  for (const ladder of ladders) {
    const of = { ladder, ...(await answersOf(ladder)), replicas: ladder.replicas, correlation: CORRELATION, loads: LOADS };
    const { capacity } = figuresOf(of);
    const systemsAt = (workload: Workload): LabSystem[] => systemsOf(suggestedSystems(figuresOf({ ...of, workload }).models));
    const ran = await runLab(of, capacity, systemsAt);
    const systems = systemsAt(of.workload);
    for (const [rate, load] of LOADS.entries()) {
      const here = { family: ladder.family, task: ladder.task, load, programsPerSecond: ran.rates[rate] ?? 0 };
      rows.push(...systems.map((system, index) => ({ ...here, ...rowOf(ran, system, { system: index, rate }) })));
    }
    progress(`frontier, ${ladder.family} ${ladder.task}: ${ran.cells.length} runs, saturated at ${capacity.toPrecision(3)} programs/s`);
  }
  return rows;
}

function systemsOf(suggested: readonly LabSystem[]): LabSystem[] {
  const policies = suggested.map(({ policy }) => policy);
  const slack = policies.find((policy): policy is SlackPolicy => policy.kind === "slack");
  if (slack === undefined) throw new Error("No slack dispatch is suggested");
  return [
    ...BASELINES.flatMap((baseline) => suggested.filter(({ name }) => name === baseline)),
    ...VARIANTS.flatMap(({ slacks, margins, ...variant }) =>
      slacks.flatMap((tau) => margins.map((deltaScore) => ({ ...variant, policy: { ...slack, tau, deltaScore } }))),
    ),
  ].map(({ name, policy, lengths, confidence }) => ({ name, policy, lengths, confidence }));
}

function rowOf(ran: LabRan, { name, policy, confidence }: LabSystem, at: { readonly system: number; readonly rate: number }) {
  const own = ran.cells.filter((cell) => cell.system === at.system && cell.rate === at.rate);
  return {
    name,
    tau: policy.kind === "slack" ? policy.tau : null,
    margin: policy.kind === "slack" && confidence !== "none" ? policy.deltaScore : null,
    secondsPerToken: bySeed(ran, at, "meanSecondsPerToken"),
    makespanSeconds: bySeed(ran, at, "meanSeconds"),
    quality: bySeed(ran, at, "quality"),
    queueSeconds: bySeed(ran, at, "meanQueueSeconds"),
    shares: (own[0]?.models ?? []).map((_, model) => own.reduce((sum, cell) => sum + (cell.models[model]?.share ?? 0) / own.length, 0)),
    span: spanOf(ran, at),
  };
}
