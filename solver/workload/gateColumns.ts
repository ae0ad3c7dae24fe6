import type { ModelOutcomes } from "./workload";

/** Columns of raw gate scores, 0..100, that a table may have beside the judge's, in the order in which they are stored. */
export const gateColumns = ["confidence", "agreement"] as const;

export type GateColumn = (typeof gateColumns)[number];

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
