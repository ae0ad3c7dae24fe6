import type { LabSystem } from "@/solver/lab/labSpec";
import { type SuggestedModel, suggestedSystems } from "@/solver/lab/suggestedSystems";
import type { CascadePolicy } from "@/solver/plan/plan";
import type { BalancedPolicy, PolicyDocument, SlackPolicy } from "@/solver/plan/policySchema";
import type { Workload } from "@/solver/workload/workload";
import { embeddingsOf } from "../lib/encoded";
import { answersOf, type Ladder, ladders } from "../lib/ladders";
import { keptRows, writeRows } from "../lib/results";
import { bySeed } from "../lib/runCells";
import { CORRELATION, LESS_SURE, LOADS, VARIANTS } from "./cases";
import { figuresOf, type LabRan, runLab, spanOf } from "./labRun";

const BASELINES = ["vLLM balancing", "MLFQ", "MLFQ, preempting", "LTR", "STJF oracle"] as const;

/** A system's results at a load on a ladder, each figure seed by seed. */
export interface FrontierRow extends Pick<Ladder, "family" | "task"> {
  readonly load: number;
  readonly programsPerSecond: number;
  readonly name: string;
  /** Slack and margin of the route; null where it has none. */
  readonly tau: number | null;
  readonly margin: number | null;
  /** Weight of the price, or points less sure than the mean; null where it has neither. */
  readonly setting: number | null;
  readonly secondsPerToken: readonly number[];
  readonly makespanSeconds: readonly number[];
  readonly quality: readonly number[];
  readonly queueSeconds: readonly number[];
  readonly preemptions: readonly number[];
  /** By model, smallest first: share of the requests, mean over seeds. */
  readonly shares: readonly number[];
  /** Duration of the arrivals as a multiple of a program's time. */
  readonly span: number;
}

/** A system, and the setting that distinguishes it from its namesakes besides slack and margin. */
type Placed = LabSystem & { readonly setting: number | null };

/** What confidence heads read of a prompt. */
type Reads = "words" | "encoder";

/** Systems that are run with heads on an encoder; the others read no confidence, or the truth. */
const ON_ENCODER: readonly string[] = ["vLLM balancing", "Chimera"];

/**
 * Latency and quality of Chimera at its slacks and margins, and of its baselines, on every ladder.
 *
 * @param reads `encoder`: of vLLM's balancing and Chimera alone, on the same programs. @throws Error where no encoder is installed.
 */
export async function frontier(progress: (line: string) => void, reads: Reads = "words"): Promise<readonly FrontierRow[]> {
  const rows: FrontierRow[] = [];
  for (const ladder of ladders) {
    const kept = `chimera-${reads === "words" ? "frontier" : reads}-${ladder.family}-${ladder.task}`;
    const before = keptRows<FrontierRow>(kept);
    if (before !== null) {
      rows.push(...before);
      continue;
    }
    const answers = await answersOf(ladder);
    const embeddings = reads === "encoder" ? await embeddingsOf(answers.texts.map((text) => text ?? "")) : undefined;
    if (embeddings === null) throw new Error("No encoder is installed");
    const of = { ladder, ...answers, embeddings, replicas: ladder.replicas, correlation: CORRELATION, loads: LOADS };
    const { capacity } = figuresOf(of);
    const placedAt = (workload: Workload): readonly Placed[] =>
      systemsOf(figuresOf({ ...of, workload }).models).filter(({ name }) => reads === "words" || ON_ENCODER.includes(name));
    const systemsAt = (workload: Workload): LabSystem[] => placedAt(workload).map(({ setting: _, ...system }) => system);
    const ran = await runLab(of, capacity, systemsAt);
    const systems = placedAt(of.workload);
    const own = LOADS.flatMap((load, rate) => {
      const here = { family: ladder.family, task: ladder.task, load, programsPerSecond: ran.rates[rate] ?? 0 };
      return systems.map((system, index) => ({ ...here, ...rowOf(ran, system, { system: index, rate }) }));
    });
    writeRows(kept, own);
    rows.push(...own);
    progress(
      `frontier on ${reads}, ${ladder.family} ${ladder.task}: ${ran.cells.length} runs, saturated at ${capacity.toPrecision(3)} programs/s`,
    );
  }
  return rows;
}

function systemsOf(models: readonly SuggestedModel[]): readonly Placed[] {
  const suggested = suggestedSystems(models);
  const policies = suggested.map(({ policy }) => policy);
  const slack = policies.find((policy): policy is SlackPolicy => policy.kind === "slack");
  const balanced = policies.find((policy): policy is BalancedPolicy => policy.kind === "balanced");
  if (slack === undefined || balanced === undefined) throw new Error("No slack dispatch is suggested");
  const { order } = slack;
  return [
    ...BASELINES.flatMap((baseline) => suggested.filter(({ name }) => name === baseline)).map(({ about: _, ...system }) => ({
      ...system,
      setting: null,
    })),
    ...VARIANTS.flatMap(({ points, ...variant }) =>
      points.map((point) => ({ ...variant, policy: { ...slack, ...point }, setting: point.price?.weight ?? null })),
    ),
    // The same order, so that the routes alone differ.
    { name: "neither", policy: { ...balanced, order }, lengths: "learnt", confidence: "none", setting: null },
    ...LESS_SURE.map(
      (less): Placed => ({
        name: "confidence only",
        policy: surest(models, less, order),
        lengths: "learnt",
        confidence: "learnt",
        setting: less,
      }),
    ),
  ];
}

/** The smallest model that the router is sure enough of, whatever its load: at least the model's mean label less some points. */
function surest(models: readonly SuggestedModel[], less: number, order: SlackPolicy["order"]): PolicyDocument {
  const below = models.slice(0, -1).map(({ quality }) => Math.max(1, Math.round(100 * quality - less)));
  const cascade: CascadePolicy = {
    kind: "cascade",
    stages: models.map(({ model }) => ({ model })),
    thresholds: below.map(() => 0),
    judge: { model: "none", secondsPerCall: 0, usdPerCall: 0 },
    directStart: { below, router: { kind: "modelled", auc: 0.5 } },
    ...{ order, place: { kind: "least-load" } },
    approvedRanges: { thresholds: below.map(() => ({ min: 0, max: 100 })) },
  };
  return cascade;
}

function rowOf(ran: LabRan, { name, policy, confidence, setting }: Placed, at: { readonly system: number; readonly rate: number }) {
  const own = ran.cells.filter((cell) => cell.system === at.system && cell.rate === at.rate);
  return {
    ...{ name, setting },
    tau: policy.kind === "slack" ? policy.tau : null,
    margin: policy.kind === "slack" && confidence !== "none" ? policy.deltaScore : null,
    secondsPerToken: bySeed(ran, at, "meanSecondsPerToken"),
    makespanSeconds: bySeed(ran, at, "meanSeconds"),
    quality: bySeed(ran, at, "quality"),
    queueSeconds: bySeed(ran, at, "meanQueueSeconds"),
    preemptions: bySeed(ran, at, "preemptions"),
    shares: (own[0]?.models ?? []).map((_, model) => own.reduce((sum, cell) => sum + (cell.models[model]?.share ?? 0) / own.length, 0)),
    span: spanOf(ran, at),
  };
}
