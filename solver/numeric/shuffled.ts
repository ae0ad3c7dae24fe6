import type { Random } from "./random";

/** The numbers from 0 to `count` - 1 in a uniformly random order (Fisher and Yates). */
export function shuffled(count: number, random: Pick<Random, "int">): Int32Array {
  const order = Int32Array.from({ length: count }, (_, at) => at);
  for (let at = count - 1; at > 0; at -= 1) {
    const other = random.int(at + 1);
    const number = order[at] ?? 0;
    order[at] = order[other] ?? 0;
    order[other] = number;
  }
  return order;
}
