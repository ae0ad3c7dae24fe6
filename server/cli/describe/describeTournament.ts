import type { Interval } from "@/solver/numeric/interval";
import type { SignalCost } from "@/solver/tournament/gateSignal";
import type { GateTournament } from "@/solver/tournament/gateTournament";
import type { RankedGate, StageResult, Verdict } from "@/solver/tournament/stageTournament";
import { secondsText, wholePercent } from "@/solver/wording/wording";
import { textTable } from "./textTable";

/** A tournament of gates as terminal text. */
export const describeTournament = ({ stages, share, planningPrompts, heldOutPrompts }: GateTournament): string =>
  [
    `Gates calibrated on ${planningPrompts} prompts, measured on ${heldOutPrompts} others; intervals are of 90 %.\n\n`,
    ...stages.map((stage) => describeStage(stage, share)),
  ].join("");

function describeStage({ model, next, quality, nextQuality, gates, verdict }: StageResult, share: number): string {
  return [
    `${model} (quality ${quality.toFixed(1)}) before ${next} (${nextQuality.toFixed(1)})\n`,
    textTable([
      [
        "gate",
        "AUC",
        "ECE raw",
        "calibrated",
        "risk-coverage area",
        `points over random, ${wholePercent(share)} sent on`,
        "extra per answer",
      ],
      ...gates.map((gate) => [
        nameOf(gate),
        gate.auc === null ? "-" : intervalText(gate.auc, 2),
        gate.rawCalibrationError.toFixed(1),
        gate.calibrationError.toFixed(1),
        intervalText(gate.riskCoverage.area, 1),
        intervalText(gate.overRandom, 1),
        costText(gate.cost),
      ]),
    ]),
    `  ${verdictText(verdict)}\n\n`,
  ].join("");
}

const nameOf = ({ name, modelled }: RankedGate): string => (modelled ? `${name} (modelled)` : name);

const intervalText = ({ value, low, high }: Interval, digits: number): string =>
  `${value.toFixed(digits)} (${low.toFixed(digits)} to ${high.toFixed(digits)})`;

function costText({ extraTokens, extraSeconds }: SignalCost): string {
  const tokens = extraTokens === null ? "tokens not known" : `${Math.round(extraTokens)} tokens`;
  const seconds = extraSeconds === null ? "time not known" : secondsText(extraSeconds);
  return extraTokens === 0 && extraSeconds === 0 ? "nothing" : `${tokens}, ${seconds}`;
}

function verdictText(verdict: Verdict): string {
  switch (verdict.kind) {
    case "no-gates":
      return "No gate has scores here.";
    case "winner":
      return `Best: ${verdict.gate}.`;
    case "no-difference":
      return `No difference is shown between ${[verdict.gate, ...verdict.others].join(", ")}.`;
  }
}
