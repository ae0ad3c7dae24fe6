import type { ConfidenceReading } from "@/solver/gates/gateDocument";
import type { ModelOutcomes, WorkloadOrigin } from "./workload";

/** Columns of raw gate scores, 0..100, that a table may bring beside the judge's. */
export const importedColumns = ["confidence", "agreement"] as const;

/** All columns of raw gate scores that outcomes may have beside the judge's, in the order in which they are stored. */
export const gateColumns = [...importedColumns, "scorer"] as const;

export type ImportedColumn = (typeof importedColumns)[number];
export type GateColumn = (typeof gateColumns)[number];

/** What the columns of confidence of a workload hold; tables that do not say so hold the smallest token probability. */
export const confidenceReadingOf = ({ confidence }: Pick<WorkloadOrigin, "confidence">): ConfidenceReading =>
  confidence ?? { measure: "minimum" };

/** The gate columns that a model's outcomes have. */
export const gateColumnsOf = (outcomes: Pick<ModelOutcomes, GateColumn>): readonly GateColumn[] =>
  gateColumns.filter((name) => outcomes[name] !== undefined);

/** The gate columns that a model's outcomes have, each changed; no entry for one that they do not have. */
export const mapGateColumns = (
  outcomes: Pick<ModelOutcomes, GateColumn>,
  change: (column: Float64Array) => Float64Array,
): Pick<ModelOutcomes, GateColumn> =>
  Object.fromEntries(
    gateColumns.flatMap((name) => {
      const column = outcomes[name];
      return column === undefined ? [] : [[name, change(column)]];
    }),
  );
