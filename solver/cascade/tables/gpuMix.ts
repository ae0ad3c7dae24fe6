/** The number of GPUs of each type. */
export type GpuMix = readonly { readonly gpu: string; readonly gpus: number }[];

/**
 * f GPUs in the cluster's own mix, for f = 0..all (index f), per type: each next GPU goes to the type that is furthest behind its share
 * (the method of Webster and Sainte-Lague), so that one more GPU never removes one of any type, and the last entry has all.
 *
 * Latency tables by GPU count need one axis; this one defines a stage on f GPUs of a mixed cluster. It is an approximation
 * for choosing routings: which replicas run on which type is decided exactly by `solveDeployment`.
 */
export function gpusByType(mix: GpuMix): readonly Int32Array[] {
  const all = mix.reduce((sum, { gpus }) => sum + gpus, 0);
  const counts = mix.map(() => new Int32Array(all + 1));
  const given = mix.map(() => 0);
  for (let f = 1; f <= all; f += 1) {
    const claim = (type: number): number => (mix[type]?.gpus ?? 0) / (2 * (given[type] ?? 0) + 1);
    let next = 0;
    for (let type = 1; type < mix.length; type += 1) if (claim(type) > claim(next)) next = type;
    given[next] = (given[next] ?? 0) + 1;
    for (const [type, own] of counts.entries()) own[f] = given[type] ?? 0;
  }
  return counts;
}

/** Mean price of a GPU hour over a mix, in USD: that of one type where there is one. */
export function meanUsdPerGpuHour(mix: GpuMix, prices: Readonly<Record<string, number>>): number {
  const all = mix.reduce((sum, { gpus }) => sum + gpus, 0);
  const price = ({ gpu }: GpuMix[number]): number => prices[gpu] ?? 0;
  const [first] = mix;
  const base = first === undefined ? 0 : price(first);
  return mix.reduce((mean, type) => mean + (type.gpus / all) * (price(type) - base), base);
}
