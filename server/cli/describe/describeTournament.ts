import type { StageFigures, TournamentFigures } from "@/solver/tournament/tournamentFigures";
import { costText, gateName, heldOutText, intervalText, verdictText } from "@/solver/tournament/tournamentText";
import { wholePercent } from "@/solver/wording/wording";
import { textTable } from "./textTable";

/** A tournament of gates as terminal text. */
export const describeTournament = (tournament: TournamentFigures): string =>
  [`${heldOutText(tournament)}\n\n`, ...tournament.stages.map((stage) => describeStage(stage, tournament.share))].join("");

function describeStage({ model, next, quality, nextQuality, gates, verdict }: StageFigures, share: number): string {
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
        gateName(gate),
        gate.auc === null ? "-" : intervalText(gate.auc, 2),
        gate.rawCalibrationError.toFixed(1),
        gate.calibrationError.toFixed(1),
        intervalText(gate.riskCoverage.area, 1),
        intervalText(gate.overRandom, 1),
        costText(gate.cost),
      ]),
    ]),
    `  ${verdictText({ verdict, gates })}\n\n`,
  ].join("");
}
