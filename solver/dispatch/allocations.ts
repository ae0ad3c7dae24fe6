import type { Explorer } from "@/solver/cascade/explore/explorer";
import { replicasFor } from "@/solver/cascade/tables/capacityTable";
import type { DispatchAllocation } from "./dispatchExploration";
import { everything } from "./dispatchRun";

type Tabled = Pick<Explorer, "input" | "tables">;

/** Parts into which the GPUs of a set of models are divided, by the number of models: about ten divisions each, and half of that. */
const PARTS: readonly number[] = [0, 0, 10, 6, 6];
const COARSE_PARTS: readonly number[] = [0, 0, 5, 4, 5];

/** Maximum number of models in a set; with more models in the ladder only sets of up to this many are tried. */
const MOST_MODELS = PARTS.length - 1;

/**
 * Divisions of GPUs between the models of each set of two and more, with the replicas that serve each model best at the rate it gets when
 * all are equally utilised. Sets and divisions that do not sustain the rate are left out. With a fixed topology: its replicas.
 *
 * @param total GPUs to divide.
 * @param fine into about ten divisions a set; else about five.
 */
export function dispatchAllocations(explorer: Tabled, total: number, fine: boolean): readonly DispatchAllocation[] {
  const { shapes, fixedTopology } = explorer.input;
  const fitting = shapes.flatMap((own, model) => (own.length > 0 ? [model] : []));
  if (fixedTopology !== undefined) return fixedAllocation(explorer, fitting);
  const found = new Map<string, DispatchAllocation>();
  for (const models of setsOf(fitting)) {
    const steps = models.map((model) => smallest(explorer, model));
    for (const gpus of divisions(steps, total, (fine ? PARTS : COARSE_PARTS)[steps.length] ?? 0)) {
      const allocation = allocated(explorer, models, gpus);
      if (allocation !== null) found.set(JSON.stringify([allocation.models, allocation.replicas]), allocation);
    }
  }
  return [...found.values()];
}

/** The same with a number of GPUs moved between two models, or given up; those that do not sustain the rate are left out. */
export function neighbours(explorer: Tabled, { models, gpus }: DispatchAllocation): readonly DispatchAllocation[] {
  const steps = models.map((model) => smallest(explorer, model));
  return gpus.flatMap((_, from) =>
    gpus.flatMap((_, to) => {
      if (from === to) return [];
      const moved = Math.max(steps[from] ?? 1, steps[to] ?? 1);
      const next = gpus.map((own, position) => own + (position === to ? moved : position === from ? -moved : 0));
      if (next.some((own, position) => own < (steps[position] ?? 1))) return [];
      return allocated(explorer, models, next) ?? [];
    }),
  );
}

/** An allocation with GPUs of one model given up, for each model that has GPUs to spare. */
export function reductions(explorer: Tabled, { models, gpus }: DispatchAllocation): readonly DispatchAllocation[] {
  return gpus.flatMap((own, from) => {
    const step = smallest(explorer, models[from] ?? 0);
    if (own - step < step) return [];
    return allocated(explorer, models, gpus.with(from, own - step)) ?? [];
  });
}

/** GPUs of a model's smallest replica. */
function smallest({ input }: Tabled, model: number): number {
  const shape = input.shapes[model]?.[0]?.shape;
  return shape === undefined ? 1 : shape.tp * shape.pp;
}

function allocated(explorer: Tabled, models: readonly number[], gpus: readonly number[]): DispatchAllocation | null {
  const { requestsPerSecond } = explorer.input;
  const tables = models.map((model) => explorer.tables.near(model, everything(explorer.input)).tables.capacity);
  const rates = tables.map(({ capacity }, position) => capacity.at(-1)?.[gpus[position] ?? 0] ?? 0);
  const all = rates.reduce((sum, rate) => sum + rate, 0);
  if (rates.some((rate) => rate === 0) || all < requestsPerSecond) return null;
  const replicas = tables.map((table, position) => {
    const rate = (requestsPerSecond * (rates[position] ?? 0)) / all;
    return (replicasFor(table, rate, gpus[position] ?? 0)?.replicas ?? []).map(({ gpu, shape, count }) => ({ gpu, shape, count }));
  });
  if (replicas.some((own) => own.length === 0)) return null;
  return { models, gpus: replicas.map(gpusOf), replicas };
}

const gpusOf = (replicas: DispatchAllocation["replicas"][number]): number =>
  replicas.reduce((sum, { shape, count }) => sum + shape.tp * shape.pp * count, 0);

function fixedAllocation({ input }: Tabled, fitting: readonly number[]): readonly DispatchAllocation[] {
  const replicas = fitting.map((model) =>
    (input.fixedTopology?.[model] ?? []).map(({ shape, count }) => ({
      gpu: input.shapes[model]?.find((one) => one.shape === shape)?.gpu ?? "",
      shape,
      count,
    })),
  );
  const running = fitting.flatMap((model, at) => ((replicas[at]?.length ?? 0) > 0 ? [{ model, replicas: replicas[at] ?? [] }] : []));
  if (running.length < 2) return [];
  return [
    {
      models: running.map(({ model }) => model),
      gpus: running.map((one) => gpusOf(one.replicas)),
      replicas: running.map((one) => one.replicas),
    },
  ];
}

/** Sets of two and more models, each ascending. */
function setsOf(models: readonly number[]): readonly (readonly number[])[] {
  const subsets = Array.from({ length: 2 ** models.length }, (_, bits) => models.filter((_model, at) => (bits >> at) % 2 === 1));
  return subsets.filter((set) => set.length >= 2 && set.length <= MOST_MODELS);
}

/** Ways to divide GPUs between models, in multiples of their smallest replicas, none of them without one. */
function divisions(steps: readonly number[], total: number, parts: number): readonly (readonly number[])[] {
  const found = new Map<string, readonly number[]>();
  for (const shares of compositions(parts, steps.length)) {
    const gpus = steps.map((step, position) => Math.max(step, step * Math.round((total * (shares[position] ?? 0)) / parts / step)));
    while (gpus.reduce((sum, own) => sum + own, 0) > total) {
      const most = gpus.reduce(
        (best, own, position) => (own - (steps[position] ?? 1) > (gpus[best] ?? 0) - (steps[best] ?? 1) ? position : best),
        0,
      );
      const step = steps[most] ?? 1;
      if ((gpus[most] ?? 0) - step < step) break;
      gpus[most] = (gpus[most] ?? 0) - step;
    }
    // What rounding left over goes to the smallest replica that fits.
    for (let left = total - gpus.reduce((sum, own) => sum + own, 0); left > 0; ) {
      const fits = steps.findIndex((step) => step <= left);
      if (fits < 0) break;
      gpus[fits] = (gpus[fits] ?? 0) + (steps[fits] ?? 1);
      left -= steps[fits] ?? 1;
    }
    if (gpus.reduce((sum, own) => sum + own, 0) <= total) found.set(gpus.join(), gpus);
  }
  return [...found.values()];
}

/** All ways to write `total` as a sum of `count` positive integers. */
function compositions(total: number, count: number): readonly (readonly number[])[] {
  if (count === 1) return total > 0 ? [[total]] : [];
  return Array.from({ length: Math.max(0, total - count + 1) }, (_, index) => index + 1).flatMap((first) =>
    compositions(total - first, count - 1).map((rest) => [first, ...rest]),
  );
}
