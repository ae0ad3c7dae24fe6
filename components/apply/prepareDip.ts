import type { ApplyStep, RollOutDip } from "@/server/contracts/studio";
import type { Tone } from "../ui/Badge";
import { formatRate, formatSeconds } from "../ui/format";

/** Routing that holds for a while, as a stretch of the chart; lengths and heights are shares of the chart's. */
export interface DipStretch {
  readonly key: string;
  readonly name: string;
  /** What is done meanwhile; empty before and after. */
  readonly doing: string;
  readonly lasts: string;
  readonly replicas: string;
  readonly sustains: string;
  readonly p95: string;
  /** How the throughput that it sustains compares with the current rate. */
  readonly verdict: { readonly word: string; readonly tone: Tone };
  readonly left: number;
  readonly width: number;
  readonly capacityHeight: number;
  /** null: it is overloaded, so there is no latency to draw. */
  readonly p95Height: number | null;
}

export interface DipPicture {
  readonly stretches: readonly DipStretch[];
  /** As a share of the current rate, from the bottom. */
  readonly rateHeight: number;
  readonly rate: string;
  readonly topCapacity: string;
  readonly topP95: string;
  /** Text alternative of the chart. */
  readonly label: string;
  /** Short stretches are drawn wider than to scale. */
  readonly stretched: boolean;
}

/** Room above the highest bar. */
const HEADROOM = 1.15;
/** The stretches before and after have no fixed length. */
const END_WIDTH = 0.12;
/** Shorter times are shown as zero. */
const INSTANT_SECONDS = 0.0005;
/** A narrower one would not be visible. */
const LEAST_WIDTH = 0.03;

const kindWords: Readonly<Record<ApplyStep["kind"], string>> = {
  "load-outcomes": "load prompts",
  start: "start",
  verify: "verify",
  "switch-policy": "switch routing",
  drain: "drain",
  stop: "stop",
};

interface Figures {
  readonly capacityPerSecond: number | null;
  readonly p95Seconds: number | null;
}

/** The stretches of a roll-out side by side: the throughput of each compared with the current rate, and its latency. */
export function prepareDip(dip: RollOutDip, steps: readonly ApplyStep[]): DipPicture {
  const ends: readonly Figures[] = [...(dip.before === null ? [] : [dip.before]), dip.after];
  const all: readonly Figures[] = [...ends, ...dip.phases];
  const topCapacity = HEADROOM * Math.max(dip.requestsPerSecond, ...all.map(({ capacityPerSecond }) => capacityPerSecond ?? 0));
  const topP95 = HEADROOM * Math.max(0, ...all.map(({ p95Seconds }) => p95Seconds ?? 0));
  const { widths, stretched } = shareOut(
    dip.phases.map(({ seconds }) => seconds),
    1 - END_WIDTH * ends.length,
  );
  let left = 0;
  const place = (figures: Figures, width: number) => {
    const from = left;
    left += width;
    return {
      left: from,
      width,
      capacityHeight: (figures.capacityPerSecond ?? 0) / topCapacity,
      p95Height: figures.p95Seconds === null || topP95 === 0 ? null : figures.p95Seconds / topP95,
      sustains: figures.capacityPerSecond === null ? "nothing is served" : formatRate(figures.capacityPerSecond),
      p95: p95Of(figures),
      verdict: verdictOf(figures, dip.requestsPerSecond),
    };
  };
  const end = (name: string, figures: Figures): DipStretch => ({
    ...{ key: name, name, doing: "", lasts: "", replicas: "" },
    ...place(figures, dip.phases.length === 0 ? 1 / ends.length : END_WIDTH),
  });
  const stretches = [
    ...(dip.before === null ? [] : [end("Before", dip.before)]),
    ...dip.phases.map((phase, index) => {
      const span = stepsOf(phase.fromStep, phase.toStep, steps);
      return {
        key: `${phase.fromStep} ${phase.toStep}`,
        name: span.name,
        doing: span.doing,
        lasts: phase.seconds < INSTANT_SECONDS ? "at once" : formatSeconds(phase.seconds),
        replicas: phase.replicas.map(({ model, serving, of }) => `${model} ${serving} of ${of}`).join(", "),
        ...place(phase, widths[index] ?? 0),
      };
    }),
    end("After", dip.after),
  ];
  return {
    stretches,
    rateHeight: dip.requestsPerSecond / topCapacity,
    rate: formatRate(dip.requestsPerSecond),
    topCapacity: formatRate(topCapacity / HEADROOM),
    topP95: topP95 === 0 ? "" : formatSeconds(topP95 / HEADROOM),
    label: `Modelled: ${stretches.map(({ name, sustains, p95 }) => `${name} ${sustains}, p95 ${p95}`).join("; ")}. The rate is ${formatRate(dip.requestsPerSecond)}.`,
    stretched,
  };
}

const p95Of = ({ capacityPerSecond, p95Seconds }: Figures): string =>
  capacityPerSecond === null ? "no answer" : p95Seconds === null ? "overloaded" : formatSeconds(p95Seconds);

function verdictOf({ capacityPerSecond, p95Seconds }: Figures, rate: number): DipStretch["verdict"] {
  if (capacityPerSecond === null) return { word: "serves nothing", tone: "bad" };
  if (capacityPerSecond < rate || p95Seconds === null) return { word: "falls behind", tone: "bad" };
  return { word: "keeps up", tone: "good" };
}

/** Widths in proportion to seconds, none below the visible minimum. */
function shareOut(seconds: readonly number[], room: number): { readonly widths: readonly number[]; readonly stretched: boolean } {
  const total = seconds.reduce((sum, each) => sum + each, 0);
  const least = Math.min(LEAST_WIDTH, room / Math.max(1, seconds.length));
  const shares = seconds.map((each) => (total === 0 ? room / seconds.length : (each / total) * room));
  const raised = shares.map((share) => Math.max(least, share));
  const over = raised.reduce((sum, each) => sum + each, 0);
  return {
    widths: raised.map((share) => (over === 0 ? 0 : (share / over) * room)),
    stretched: total > 0 && shares.some((share) => share < least),
  };
}

function stepsOf(fromId: string, toId: string, steps: readonly ApplyStep[]): { readonly name: string; readonly doing: string } {
  const [from, to] = [fromId, toId].map((id) => steps.findIndex((step) => step.id === id)) as [number, number];
  if (from === -1 || to < from) return { name: fromId === toId ? `Step ${fromId}` : `Steps ${fromId} to ${toId}`, doing: "" };
  const kinds = [...new Set(steps.slice(from, to + 1).map(({ kind }) => kindWords[kind]))];
  return { name: from === to ? `Step ${from + 1}` : `Steps ${from + 1} to ${to + 1}`, doing: kinds.join(", ") };
}
