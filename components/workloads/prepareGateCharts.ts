import type { GateFigures, StageFigures } from "@/solver/tournament/tournamentFigures";
import { gateName } from "@/solver/tournament/tournamentText";
import { type LinesPicture, prepareLines } from "../charts/prepareLines";
import { ABSENT, formatCount, formatPercent, formatScore } from "../ui/format";
import { markOf } from "./prepareGates";

const noSpan = { xSpan: null, ySpan: null, tag: "" } as const;

/** Room above the highest risk, as a share of it. */
const HEADROOM = 1.06;

/** Risk by coverage, a line for each gate, and one for accepting at random. */
export function prepareRiskCoverage({ gates, quality }: StageFigures): LinesPicture | null {
  const [first] = gates;
  if (first === undefined) return null;
  const random = first.riskCoverage.curve.map(({ coverage }) => ({ coverage, risk: 100 - quality }));
  const highest = Math.max(
    ...[{ curve: random }, ...gates.map(({ riskCoverage }) => riskCoverage)].flatMap(({ curve }) => curve.map(({ risk }) => risk)),
  );
  const pointsOf = (curve: readonly { readonly coverage: number; readonly risk: number }[]) =>
    curve.map(({ coverage, risk }) => ({ ...noSpan, x: coverage, y: risk }));
  return prepareLines({
    lines: [
      { ...{ key: "random", name: "at random", letter: "N", hue: "var(--ink-3)", dash: "2 3" }, points: pointsOf(random) },
      ...gates.map((gate) => ({ key: gate.name, name: gateName(gate), ...markOf(gate), points: pointsOf(gate.riskCoverage.curve) })),
    ],
    x: { title: "share of answers accepted (coverage)", format: formatPercent, domain: [0, 1] },
    // Ends that are given keep the axis linear, as readers of such curves expect.
    y: { title: "points of quality that accepted answers lack (risk)", format: formatScore, domain: [0, highest * HEADROOM || 1] },
    marked: false,
  });
}

/** The curves as rows of a table: one risk per gate, in the order of the gates. */
export const riskRows = ({ gates }: StageFigures): readonly { readonly coverage: string; readonly risks: readonly string[] }[] =>
  (gates[0]?.riskCoverage.curve ?? []).map(({ coverage }, at) => ({
    coverage: formatPercent(coverage),
    risks: gates.map(({ riskCoverage }) => formatScore(riskCoverage.curve[at]?.risk)),
  }));

type Reliabilities = Pick<GateFigures, "rawReliability" | "reliability">;

const calibrationLines = { raw: { name: "raw scores", letter: "R" }, calibrated: { name: "calibrated scores", letter: "K" } } as const;

/** Mean quality by mean score in each tenth of the scale, before and after calibration; a calibrated gate is on the diagonal. */
export function prepareReliability(
  gate: Reliabilities & Pick<GateFigures, "kind" | "modelled">,
  { raw, calibrated }: Readonly<Record<"raw" | "calibrated", { readonly name: string; readonly letter: string }>> = calibrationLines,
): LinesPicture | null {
  const pointsOf = (bins: GateFigures["reliability"]) => bins.map(({ score, quality }) => ({ ...noSpan, x: score, y: quality }));
  const ends = [0, 100].map((both) => ({ ...noSpan, x: both, y: both }));
  return prepareLines({
    lines: [
      { ...{ key: "equal", name: "quality equals score", letter: "", hue: "var(--line-strong)", dash: "" }, points: ends, unmarked: true },
      { ...{ key: "raw", ...raw, hue: "var(--ink-3)", dash: "2 3" }, points: pointsOf(gate.rawReliability) },
      {
        ...{ key: "calibrated", ...calibrated, hue: markOf(gate).hue, dash: "" },
        points: pointsOf(gate.reliability),
      },
    ],
    x: { title: "score of the gate", format: formatCount, domain: [0, 100] },
    y: { title: "quality of answers with this score", format: formatCount, domain: [0, 100] },
    marked: true,
  });
}

interface ReliabilityRow {
  readonly scores: string;
  readonly raw: BinTexts;
  readonly calibrated: BinTexts;
}

interface BinTexts {
  readonly answers: string;
  readonly score: string;
  readonly quality: string;
}

/** The reliability diagram as rows of a table: each tenth of the scale with answers, before or after calibration. */
export function reliabilityRows({ rawReliability, reliability }: Reliabilities): readonly ReliabilityRow[] {
  const starts = [...new Set([...rawReliability, ...reliability].map(({ from }) => from))].sort((a, b) => a - b);
  const texts = (bins: GateFigures["reliability"], start: number): BinTexts => {
    const bin = bins.find(({ from }) => from === start);
    if (bin === undefined) return { answers: "0", score: ABSENT, quality: ABSENT };
    return { answers: formatCount(bin.answers), score: formatScore(bin.score), quality: formatScore(bin.quality) };
  };
  return starts.map((start) => ({
    scores: `${start} to ${start + 10}`,
    raw: texts(rawReliability, start),
    calibrated: texts(reliability, start),
  }));
}
