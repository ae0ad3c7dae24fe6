import { type SharedEngines, sharesOfSpeed } from "@/solver/plan/sharedEngines";
import type { CapacityTable } from "./capacityTable";
import type { DeployedRow } from "./deployedRows";
import type { MixTables } from "./latencyTables";
import type { ShapeCurve } from "./shapeMix";

/**
 * The rows where some of their models are served by the same engines: each model's tables at the share of the engines' speed that the
 * others leave. Capacity is exact where work adds up; latency is that of the model's own requests at the utilisation that all cause. The
 * whole simulation then has the requests of all models in one batch.
 */
export function shareEngines(rows: readonly DeployedRow[], shared: SharedEngines): readonly DeployedRow[] {
  let shares: readonly number[] | null = null;
  const shareOf = (row: number): number => {
    shares ??= sharesOfSpeed(
      rows.map((one) => ({ model: one.model, work: workOf(one) })),
      shared,
    );
    return shares[row] ?? 1;
  };
  return rows.map((row, index) => ({
    ...row,
    near: () => {
      const own = row.near();
      return { ...own, tables: slowed(own.tables, shareOf(index)) };
    },
    exact: (also) => slowed(row.exact(also), shareOf(index)),
  }));
}

/** Work of a row's requests in engines of its mean speed. */
function workOf({ requestsPerSecond, near }: DeployedRow): number {
  if (requestsPerSecond === 0) return 0;
  const { tables, lengthFactor } = near();
  const speeds = tables.capacity.shapes.map(({ curve }) => curve.saturationRequestsPerSecond);
  const speed = speeds.reduce((sum, one) => sum + one, 0) / speeds.length;
  return speeds.length === 0 ? 0 : (requestsPerSecond * lengthFactor) / speed;
}

function slowed(tables: MixTables, share: number): MixTables {
  return share === 1 ? tables : { ...tables, capacity: slowedCapacity(tables.capacity, share) };
}

function slowedCapacity({ shapes, pools, levels, capacity }: CapacityTable, share: number): CapacityTable {
  const slow = new Map(
    shapes.map((one): [ShapeCurve, ShapeCurve] => {
      const { rates, seconds, saturationRequestsPerSecond } = one.curve;
      const curve = {
        seconds,
        rates: rates.map((rate) => rate * share),
        saturationRequestsPerSecond: saturationRequestsPerSecond * share,
      };
      return [one, { ...one, curve }];
    }),
  );
  const of = (own: readonly ShapeCurve[]): ShapeCurve[] => own.map((one) => slow.get(one) ?? one);
  return {
    shapes: of(shapes),
    pools: pools.map((pool) => ({ ...pool, shapes: of(pool.shapes) })),
    levels,
    capacity: capacity.map((rates) => rates.map((rate) => rate * share)),
  };
}
