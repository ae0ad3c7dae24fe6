import type { LabelledGate, LabelledGates, Outcome, WorkloadSummary } from "@/server/contracts/studio";
import type { LinesPicture } from "../charts/prepareLines";
import type { Tone } from "../ui/Badge";
import { ABSENT, formatCount, formatPercent, formatScore } from "../ui/format";
import { prepareReliability, reliabilityRows } from "./prepareGateCharts";

interface LabelledRow {
  readonly key: string;
  readonly model: string;
  readonly gate: string;
  readonly labels: string;
  /** ECE in points. */
  readonly before: string;
  readonly after: string;
  /** Fall of the Brier score with its interval of 90 %. */
  readonly gain: string;
  /** Share of the labelled answers that is accepted. */
  readonly accepted: string;
  readonly verdict: { readonly text: string; readonly tone: Tone };
}

export interface LabelledDiagram {
  readonly key: string;
  readonly title: string;
  readonly picture: LinesPicture | null;
  readonly rows: ReturnType<typeof reliabilityRows>;
}

export type LabelledView =
  | { readonly kind: "none"; readonly title: string; readonly text: string; readonly workloadId: string | null }
  | {
      readonly kind: "gates";
      readonly planId: string;
      readonly rows: readonly LabelledRow[];
      readonly diagrams: readonly LabelledDiagram[];
      /** Why there is no plan to save, in a sentence; null: there is one. */
      readonly missing: string | null;
    };

const lines = { raw: { name: "scores in force", letter: "F" }, calibrated: { name: "scores calibrated again", letter: "N" } } as const;

/** What labels of served answers say of the gates in force on a cluster, on the page of a workload. */
export function prepareLabelledGates(
  found: Outcome<{ readonly labelled: LabelledGates }>,
  { id }: Pick<WorkloadSummary, "id">,
  clusterName: string,
): LabelledView {
  if (!found.ok) return { kind: "none", title: "No gates in force", text: found.message, workloadId: null };
  const { planId, workloadId, needed, gates } = found.labelled;
  if (workloadId !== id)
    return {
      ...{ kind: "none", title: "Another workload's gates are in force", workloadId },
      text: `The plan in force on ${clusterName} was made from another workload: its page shows the labels of its gates.`,
    };
  const need = `A new calibration needs ${needed.all} new labels of a gate, ${needed.ofEach} of good answers and ${needed.ofEach} of bad ones among them.`;
  return {
    ...{ kind: "gates", planId },
    rows: gates.map(rowOf),
    diagrams: gates.flatMap(diagramOf),
    missing: gates.some(({ fitted }) => fitted !== null) ? null : need,
  };
}

const keyOf = ({ stage, gate }: LabelledGate): string => `${stage} ${gate}`;

function rowOf(of: LabelledGate): LabelledRow {
  const { model, gate, fitted } = of;
  const accepted = fitted?.accepted ?? null;
  return {
    ...{ key: keyOf(of), model, gate },
    labels: labelsText(of),
    before: formatScore(fitted?.before.error),
    after: formatScore(fitted?.after.error),
    gain: fitted === null ? ABSENT : `${[fitted.gain.value, fitted.gain.low].map(brier).join(" (")} to ${brier(fitted.gain.high)})`,
    accepted: accepted === null ? ABSENT : `${formatPercent(accepted.before)} → ${formatPercent(accepted.after)}`,
    verdict: verdictOf(fitted),
  };
}

function labelsText({ labels, good, bad, earlier }: LabelledGate): string {
  const fresh = labels === 0 ? "0" : `${formatCount(labels)} (${formatCount(good)} good, ${formatCount(bad)} bad)`;
  return earlier === 0 ? fresh : `${fresh}, ${formatCount(earlier)} earlier`;
}

const brier = (value: number): string => value.toFixed(3);

function verdictOf(fitted: LabelledGate["fitted"]): LabelledRow["verdict"] {
  if (fitted === null) return { text: "too few labels", tone: "neutral" };
  if (fitted.gain.low > 0) return { text: "new calibration is better", tone: "warn" };
  if (fitted.gain.high < 0) return { text: "calibration in force is better", tone: "good" };
  return { text: "no difference shown", tone: "good" };
}

function diagramOf(of: LabelledGate): readonly LabelledDiagram[] {
  const { kind, model, gate, fitted } = of;
  if (fitted === null) return [];
  const bins = { rawReliability: fitted.before.bins, reliability: fitted.after.bins };
  return [
    {
      ...{ key: keyOf(of), title: `${model}: ${gate}` },
      ...{ picture: prepareReliability({ kind, modelled: false, ...bins }, lines), rows: reliabilityRows(bins) },
    },
  ];
}
