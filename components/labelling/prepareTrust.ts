import type { Estimate, MeasureTrust, ProfileTrust } from "@/server/contracts/studio";
import type { Tone } from "../ui/Badge";
import { formatCounted, formatPercent, formatScore, formatUsd } from "../ui/format";

/** An estimate with its interval as positions in a box, 0..1 from the left. */
export interface IntervalPicture {
  readonly at: number;
  readonly low: number;
  readonly high: number;
  readonly value: string;
  /** The interval in words, rounded outwards. */
  readonly span: string;
  /** So wide that it says little: drawn hatched, with a note. */
  readonly wide: boolean;
}

/** A dot of the calibration picture, in shares of the box from the lower left. */
export interface CalibrationDot {
  readonly key: string;
  readonly x: number;
  readonly y: number;
  readonly low: number;
  readonly high: number;
  readonly scores: string;
  readonly labels: number;
  readonly quality: string;
  readonly span: string;
}

export interface TrustRow {
  readonly id: string;
  readonly name: string;
  readonly tone: Tone;
  readonly word: string;
  readonly warning: string | null;
  readonly labels: string;
  readonly agreement: IntervalPicture | null;
  readonly auc: IntervalPicture | null;
  /** For each model's answers alone: `small: 0.81 (0.74 to 0.86), 20 labels`; empty with one model, where the total says the same. */
  readonly aucByModel: readonly { readonly model: string; readonly says: string }[];
  readonly calibration: readonly CalibrationDot[];
  /** The direction in which its scores are off, in words; null: no range of scores has enough labels. */
  readonly bias: string | null;
  readonly noise: string;
  readonly orderFlips: string;
  readonly cost: string;
}

/** Intervals at least so wide, of a range of 1, say little. With 50 labels an AUC of 0.8 comes out about 0.2 wide. */
const WIDE = 0.25;

const clamp = (share: number): number => Math.min(1, Math.max(0, share));
const hundredths = (value: number, round: (scaled: number) => number): string => (round(value * 100 - 1e-9) / 100).toFixed(2);

/** An estimate of 0..1 as a picture. @param format of its value and of both ends. */
function prepareInterval(
  estimate: Estimate | null,
  format: { value(value: number): string; span(of: Estimate): string },
): IntervalPicture | null {
  if (estimate === null) return null;
  return {
    at: clamp(estimate.value),
    low: clamp(estimate.low),
    high: clamp(estimate.high),
    value: format.value(estimate.value),
    span: format.span(estimate),
    wide: estimate.high - estimate.low >= WIDE,
  };
}

const asShare = {
  value: (value: number) => formatPercent(value),
  span: ({ low, high }: Estimate) => `${Math.floor(low * 100 + 1e-6)} to ${formatPercent(Math.ceil(high * 100 - 1e-6) / 100)}`,
};
const asAuc = {
  value: (value: number) => value.toFixed(2),
  span: ({ low, high }: Estimate) => `${hundredths(low + 2e-9, Math.floor)} to ${hundredths(high, Math.ceil)}`,
};

/** Dots of the calibration picture: scores against the hand labels of the same answers. */
function prepareCalibration(calibration: MeasureTrust["calibration"]): readonly CalibrationDot[] {
  return calibration
    .filter(({ labels }) => labels > 0)
    .map(({ from, to, labels, quality }) => ({
      key: `${from}`,
      x: clamp((from + to) / 200),
      y: clamp(quality.value / 100),
      low: clamp(quality.low / 100),
      high: clamp(quality.high / 100),
      scores: from === to ? `${from}` : `${from} to ${to}`,
      labels,
      quality: formatScore(quality.value),
      span: `${Math.floor(quality.low + 1e-6)} to ${Math.ceil(quality.high - 1e-6)}`,
    }));
}

/** For ranges whose interval excludes their scores, whether labels are above or below. */
function biasOf(calibration: MeasureTrust["calibration"]): string | null {
  if (!calibration.some(({ labels }) => labels > 0)) return null;
  const kind = calibration.filter(({ to, labels, quality }) => labels > 0 && quality.low > to).length;
  const harsh = calibration.filter(({ from, labels, quality }) => labels > 0 && quality.high < from).length;
  if (kind > 0 && harsh > 0) return "Some ranges of its scores are too low, others too high.";
  if (kind > 0) return "Answers are better than it scores them.";
  if (harsh > 0) return "Answers are worse than it scores them.";
  return "No range of its scores is off by more than chance.";
}

function wordOf({ warning, labels }: MeasureTrust, floor: number): Pick<TrustRow, "tone" | "word"> {
  if (labels === 0) return { tone: "neutral", word: "not known yet" };
  if (warning === null) return { tone: "good", word: `fit for a floor of ${floor}` };
  return { tone: "warn", word: "not fit at present" };
}

function aucOfModel({ model, labels, auc }: MeasureTrust["aucByModel"][number]): TrustRow["aucByModel"][number] {
  const of = formatCounted(labels, "label");
  return { model, says: auc === null ? `not known, ${of}` : `${asAuc.value(auc.value)} (${asAuc.span(auc)}), ${of}` };
}

/** The display of each measure's trust, in their order. */
export function prepareTrust({ measures, floor }: Pick<ProfileTrust, "measures" | "floor">): readonly TrustRow[] {
  return measures.map((measure) => ({
    id: measure.measureId,
    name: measure.name,
    ...wordOf(measure, floor),
    warning: measure.warning,
    labels: formatCounted(measure.labels, "label"),
    agreement: prepareInterval(measure.agreement, asShare),
    auc: prepareInterval(measure.auc, asAuc),
    aucByModel: measure.aucByModel.length < 2 ? [] : measure.aucByModel.map(aucOfModel),
    calibration: prepareCalibration(measure.calibration),
    bias: biasOf(measure.calibration),
    noise: measure.noisePoints === null ? "judged once" : `±${formatScore(measure.noisePoints)} points`,
    orderFlips: measure.orderFlips === null ? "one order only" : formatPercent(measure.orderFlips),
    cost: formatUsd(measure.usd),
  }));
}
