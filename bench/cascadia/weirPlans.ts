import type { AtRate } from "@/server/planning/rates/replanned";
import { distinct } from "../lib/bySeed";
import { table } from "../lib/tables";
import { STARTS } from "./gates";
import type { RaceRow } from "./race";
import { casesOf } from "./tables";

/** A plan with several models that asks no gate. */
const HEADS_ALONE = "none: heads alone";

/** A row of Weir whose highest rate was found; rows of runs before 2026-11-30 do not say where requests start. */
type WeirRow = RaceRow & { readonly highest: Omit<AtRate, "startBelow"> & Partial<Pick<AtRate, "startBelow">> };

const weirRows = (rows: readonly RaceRow[]): readonly WeirRow[] =>
  rows.flatMap((row) => (row.system === "Weir" && row.highest !== null ? [{ ...row, highest: row.highest }] : []));

/** Which gate the plan asks at its highest rate; without one, whether heads choose among its models. */
function gateOf({ highest: { gate, cascade } }: WeirRow): string {
  if (gate !== "none") return gate.replace(STARTS, "");
  return cascade.includes("→") ? HEADS_ALONE : "none: one model";
}

/** How trained heads route before any answer. */
function routerOf(row: WeirRow): string {
  const { gate, startBelow } = row.highest;
  if (startBelow !== undefined) return startBelow?.some((score) => score > 0) ? `heads, start below ${startBelow.join(", ")}` : "-";
  if (gateOf(row) === HEADS_ALONE) return "heads";
  return gate.endsWith(STARTS) ? "heads, allowed" : "-";
}

/** Weir's plan at its highest rate in every case, under every seed. */
export function weirPlanTable(rows: readonly RaceRow[]): string {
  const own = weirRows(rows);
  return table(
    ["case", "seed", "highest rate", "models, replicas and thresholds", "gate", "router", "GPUs of the gate"],
    casesOf(own).flatMap((name) =>
      own
        .filter((row) => row.case === name)
        .map((row) => [
          ...[name, String(row.seed), `${row.highest.requestsPerSecond.toFixed(0)}/s`, row.highest.cascade],
          ...[gateOf(row), routerOf(row), `${row.highest.gateGpus} of ${row.highest.gpus}`],
        ]),
    ),
  );
}

/** How often each gate is the one of Weir's plan at its highest rate. */
export function gateSentence(rows: readonly RaceRow[]): string {
  const gates = weirRows(rows).map(gateOf);
  const counts = distinct(gates).map((gate) => ({ gate, count: gates.filter((one) => one === gate).length }));
  const parts = counts.sort((a, b) => b.count - a.count).map(({ gate, count }) => `${gate}, ${count}`);
  return `Gates of the ${gates.length} plans of Weir at their highest rates: ${parts.join("; ")}.`;
}
