import { seedEstimate } from "@/solver/lab/overSeeds";
import type { Verdict } from "@/solver/tournament/stageTournament";
import type { GateFigures, MeasuredGates } from "./gateSplits";
import { signed, table } from "./tables";

/** Every gate's figures. */
export const gateTable = (ladders: readonly MeasuredGates[]): string =>
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
    ladders.flatMap(({ name, gates }) =>
      gates
        .toSorted((a, b) => average(a.area) - average(b.area))
        .map((gate) => [
          name,
          nameOf(gate),
          average(gate.auc).toFixed(3),
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

/** The winner per ladder: on how many splits which gate has surely the smallest area, and on how many which others could be as good. */
export const verdictTable = (ladders: readonly MeasuredGates[]): string =>
  table(
    ["ladder", "smallest area on average", "splits on which it surely wins", "splits without a sure winner", "could be as good, on splits"],
    ladders.map((measured) => {
      const winner = winnerOf(measured);
      const sure = measured.verdicts.filter((verdict) => verdict.kind === "winner" && verdict.gate === winner.name).length;
      const open = measured.verdicts.filter(({ kind }) => kind !== "winner").length;
      const of = `of ${measured.verdicts.length}`;
      const among = ({ name }: GateFigures): number => measured.verdicts.filter((verdict) => candidatesOf(verdict).includes(name)).length;
      const others = contenders(measured).filter((gate) => gate !== winner && among(gate) > 0);
      const named = others.map((gate) => `${nameOf(gate)} ${among(gate)}`).join(", ");
      return [measured.name, nameOf(winner), `${sure} ${of}`, `${open} ${of}`, named === "" ? "none" : named];
    }),
  );

/** The gates that a split does not tell apart; the winner alone where there is one. */
function candidatesOf(verdict: Verdict): readonly string[] {
  switch (verdict.kind) {
    case "no-gates":
      return [];
    case "winner":
      return [verdict.gate];
    case "no-difference":
      return [verdict.gate, ...verdict.others];
    case "not-confirmed":
      return [verdict.gate, ...verdict.better];
  }
}

/** Share of answers sent on to hold each floor. */
export const floorTable = (ladders: readonly MeasuredGates[]): string =>
  table(
    ["ladder", "floor", "gate", "sent on %", "quality", "splits with the floor held"],
    ladders.flatMap((measured) =>
      (measured.gates[0]?.floors ?? []).flatMap(({ floor }, at) =>
        contenders(measured).map((gate) => {
          const served = (gate.floors[at]?.served ?? []).filter((each) => each !== null);
          const of = `of ${gate.floors[at]?.served.length ?? 0}`;
          return [
            measured.name,
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

const contenders = ({ gates }: MeasuredGates): readonly GateFigures[] => gates.filter(({ competes }) => competes);

/** The contender with the smallest mean area. */
export function winnerOf(measured: MeasuredGates): GateFigures {
  return contenders(measured).reduce((best, gate) => (average(gate.area) < average(best.area) ? gate : best));
}

/** A gate's name; a modelled one is called so. */
const nameOf = ({ name, modelled }: GateFigures): string => (modelled ? `${name} (modelled)` : name);

const average = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** The mean of values of a split each. */
export const meanText = (values: readonly number[]): string => average(values).toFixed(1);

function spread(values: readonly number[]): string {
  const estimate = seedEstimate(values);
  if (estimate === null) return "-";
  const { value, low, high } = estimate;
  return low === null || high === null ? value.toFixed(1) : `${value.toFixed(1)} (${low.toFixed(1)} to ${high.toFixed(1)})`;
}
