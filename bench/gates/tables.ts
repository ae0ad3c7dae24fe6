import { seedEstimate } from "@/solver/lab/overSeeds";
import { signed, table } from "../lib/tables";
import { type GateFigures, type MeasuredLadder, USUAL_JUDGE } from "./measureLadder";

/** Ladders with their models' qualities. */
export const ladderTable = (ladders: readonly MeasuredLadder[]): string =>
  table(
    ["ladder", "peer", "questions", "right %: first, next", "first model and peer disagree %"],
    ladders.map(({ ladder, questions, quality, nextQuality, disagreement }) => [
      ladder.name,
      ladder.peer,
      String(questions),
      `${quality.toFixed(1)}, ${nextQuality.toFixed(1)}`,
      meanText(disagreement.map((share) => 100 * share)),
    ]),
  );

/** Every gate's figures. */
export const gateTable = (ladders: readonly MeasuredLadder[]): string =>
  table(
    [
      "ladder",
      "gate",
      "AUC",
      "ECE raw",
      "ECE calibrated",
      "ECE if scores were exact",
      "risk-coverage area",
      "over random at the share of disagreement",
      "at half",
      "extra tokens",
    ],
    ladders.flatMap(({ ladder, gates }) =>
      gates
        .toSorted((a, b) => average(a.area) - average(b.area))
        .map((gate) => [
          ladder.name,
          nameOf(gate),
          average(gate.auc).toFixed(2),
          meanText(gate.rawCalibrationError),
          meanText(gate.calibrationError),
          meanText(gate.exactError),
          spread(gate.area),
          signed(seedEstimate(gate.overRandom)),
          signed(seedEstimate(gate.overRandomAtHalf)),
          gate.extraTokens === null ? "-" : gate.extraTokens.toFixed(0),
        ]),
    ),
  );

/** The winner per ladder: on how many splits which gate has surely the smallest area. */
export const verdictTable = (ladders: readonly MeasuredLadder[]): string =>
  table(
    ["ladder", "smallest area on average", "splits on which it surely wins", "splits without a sure winner"],
    ladders.map((measured) => {
      const winner = winnerOf(measured);
      const sure = measured.verdicts.filter((verdict) => verdict.kind === "winner" && verdict.gate === winner.name).length;
      const open = measured.verdicts.filter(({ kind }) => kind !== "winner").length;
      const of = `of ${measured.verdicts.length}`;
      return [measured.ladder.name, nameOf(winner), `${sure} ${of}`, `${open} ${of}`];
    }),
  );

/** Share of answers sent on to hold each floor. */
export const floorTable = (ladders: readonly MeasuredLadder[]): string =>
  table(
    ["ladder", "floor", "gate", "sent on %", "quality", "splits with the floor held"],
    ladders.flatMap((measured) =>
      measured.ladder.floors.flatMap((floor, at) =>
        contenders(measured).map((gate) => {
          const served = (gate.floors[at]?.served ?? []).filter((each) => each !== null);
          const of = `of ${gate.floors[at]?.served.length ?? 0}`;
          return [
            measured.ladder.name,
            String(floor),
            nameOf(gate),
            served.length === 0 ? "-" : spread(served.map(({ share }) => 100 * share)),
            served.length === 0 ? "-" : meanText(served.map(({ quality }) => quality)),
            `${served.filter(({ quality }) => quality >= floor).length} ${of}`,
          ];
        }),
      ),
    ),
  );

/** The gates that compete: of the modelled judges the usual one alone. */
const contenders = ({ gates }: MeasuredLadder): readonly GateFigures[] =>
  gates.filter(({ modelled, name }) => !modelled || name === USUAL_JUDGE);

/** The contender with the smallest mean area. */
export function winnerOf(measured: MeasuredLadder): GateFigures {
  return contenders(measured).reduce((best, gate) => (average(gate.area) < average(best.area) ? gate : best));
}

const nameOf = ({ name, modelled }: GateFigures): string => (modelled ? `${name} (modelled)` : name);

const average = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

const meanText = (values: readonly number[]): string => average(values).toFixed(1);

function spread(values: readonly number[]): string {
  const estimate = seedEstimate(values);
  if (estimate === null) return "-";
  const { value, low, high } = estimate;
  return low === null || high === null ? value.toFixed(1) : `${value.toFixed(1)} (${low.toFixed(1)} to ${high.toFixed(1)})`;
}
