import { gpuCount, gpuPrices, gpuTypes } from "@/solver/plan/clusterGpus";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import { mayRunOn, type PlanConstraints } from "@/solver/plan/constraints";
import { counted, exactSecondsText } from "@/solver/wording/wording";
import { NEAR_TIE, promisedQuality } from "../choose/choose";
import type { Oracle } from "./conflictOracle";
import type { ConflictingConstraint, Demand, Demands } from "./demands";

type Nearest = Pick<ConflictingConstraint, "nearest" | "needs">;

const NOT_ALONE: Nearest = { nearest: null, needs: "giving up this alone is not enough" };
const GIVEN_UP: Nearest = { nearest: null, needs: "without it the rest can be kept" };

/** The value that would work instead of a demand when all others are kept, by the tables; every value is checked before it is reported. */
export function nearestKept(demands: Demands, demand: Demand, oracle: Oracle): Nearest {
  const less = demand.without(demands);
  if (!oracle.keeps(less)) return NOT_ALONE;
  const { constraints } = demands;
  const { cluster, running } = oracle.asked;
  const keeps = (change: Partial<PlanConstraints>): boolean => oracle.keeps({ ...less, constraints: { ...less.constraints, ...change } });
  switch (demand.kind) {
    case "qualityFloor": {
      const { kind } = oracle.asked.objective;
      const found = [oracle.best(less, "quality-under-latency", "any"), oracle.best(less, kind, "any")].flatMap((one) =>
        one === "undecided" || one.candidate === null ? [] : [promisedQuality(oracle.asked.objective)(one.candidate)],
      );
      const nearest = Math.floor(10 * Math.max(...found)) / 10;
      return { nearest, needs: `${nearest} can be had` };
    }
    case "latencyBudgetSeconds": {
      const found = oracle.best(less, "latency-under-quality", "best");
      if (found === "undecided" || !Number.isFinite(found.heldSeconds)) return GIVEN_UP;
      // A whole simulation may exceed the latency of the tables by their error.
      const nearest = rounded(NEAR_TIE * found.heldSeconds);
      return {
        nearest,
        needs: `${exactSecondsText(rounded(found.heldSeconds))} by the tables, which err by some per cent: allow ${exactSecondsText(nearest)}`,
      };
    }
    case "maxGpus": {
      const counts = upFrom((constraints.maxGpus ?? 0) + 1, gpuCount(cluster));
      const nearest = firstThat(counts, (maxGpus) => keeps({ maxGpus }));
      return nearest === null ? GIVEN_UP : { nearest, needs: `needs ${counted(nearest, "GPU")}` };
    }
    case "maxUsdPerHour": {
      const costs = costsOf(cluster).filter((usd) => usd > (constraints.maxUsdPerHour ?? 0));
      const nearest = firstThat(costs, (maxUsdPerHour) => keeps({ maxUsdPerHour }));
      return nearest === null ? GIVEN_UP : { nearest, needs: `needs ${nearest} USD/hour` };
    }
    case "maxChangedReplicas": {
      const changes = upFrom((constraints.maxChangedReplicas ?? 0) + 1, running.length + gpuCount(cluster));
      const nearest = firstThat(changes, (maxChangedReplicas) => keeps({ maxChangedReplicas }));
      return nearest === null ? GIVEN_UP : { nearest, needs: `needs ${nearest}` };
    }
    case "minReplicasPerModel": {
      const fewer = upFrom(1, (constraints.minReplicasPerModel ?? 1) - 1).reverse();
      return mostOf(firstThat(fewer, (minReplicasPerModel) => keeps({ minReplicasPerModel })));
    }
    case "pinned": {
      const pin = constraints.pinned.find((entry) => !less.constraints.pinned.includes(entry));
      if (pin === undefined) return GIVEN_UP;
      const fewer = upFrom(1, pin.replicas - 1).reverse();
      return mostOf(firstThat(fewer, (replicas) => keeps({ pinned: [...less.constraints.pinned, { ...pin, replicas }] })));
    }
    case "nodes":
      return nodesNeeded(constraints, demand.model, { names: cluster.nodes.map(({ name }) => name), less: less.constraints, keeps });
    case "idleGpus":
    case "surviveNodeLoss":
    case "excluded":
    case "shapes":
      return GIVEN_UP;
  }
}

const mostOf = (nearest: number | null): Nearest => (nearest === null ? GIVEN_UP : { nearest, needs: `at most ${nearest} can be had` });

/** Nodes that the rule excludes and that the model needs; each is needed, other nodes may work instead. */
function nodesNeeded(
  constraints: PlanConstraints,
  model: string | null,
  {
    names,
    less,
    keeps,
  }: {
    readonly names: readonly string[];
    readonly less: PlanConstraints;
    readonly keeps: (change: Partial<PlanConstraints>) => boolean;
  },
): Nearest {
  if (model === null) return GIVEN_UP;
  const barred = names.filter((name) => !mayRunOn(constraints, model, name));
  let never: readonly string[] = [];
  for (const name of barred) {
    const more = [...never, name];
    if (keeps({ nodes: [...less.nodes, { model, never: more }] })) never = more;
  }
  const needed = barred.filter((name) => !never.includes(name));
  return { nearest: needed.length, needs: `needs ${needed.join(", ")} as well` };
}

/** The first value that can be kept, where each value is easier to keep than the one before; null where there is none. */
function firstThat(values: readonly number[], kept: (value: number) => boolean): number | null {
  let low = 0;
  let high = values.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (kept(values[middle] ?? 0)) high = middle;
    else low = middle + 1;
  }
  return values[low] ?? null;
}

const upFrom = (from: number, to: number): number[] => Array.from({ length: Math.max(0, to - from + 1) }, (_, index) => from + index);

/** Possible costs of GPUs of the cluster, ascending, in whole cents per hour rounded up. */
function costsOf(cluster: ClusterSpec): readonly number[] {
  const prices = gpuPrices(cluster);
  let sums: readonly number[] = [0];
  for (const gpu of gpuTypes(cluster)) {
    const counts = upFrom(0, gpuCount(cluster, gpu));
    sums = [...new Set(sums.flatMap((sum) => counts.map((count) => sum + count * (prices[gpu] ?? 0))))];
  }
  return [...new Set(sums.map((usd) => Math.ceil(100 * usd - 1e-6) / 100))].sort((a, b) => a - b);
}

/** Seconds to three significant figures, rounded up. */
function rounded(seconds: number): number {
  const unit = 10 ** (Math.floor(Math.log10(seconds)) - 2);
  return Number((Math.ceil(seconds / unit - 1e-9) * unit).toPrecision(3));
}
