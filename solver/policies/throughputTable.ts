import type { JustInTimePolicy } from "../plan/policySchema";

/** What a policy of just-in-time choice says of a model. */
export type ProfiledModel = JustInTimePolicy["models"][number];

/**
 * Output tokens a second of one replica, by the requests it has in flight, from none to `saturationBatch`: straight between the points of
 * the profiled curve and from none to the first.
 */
export function throughputTable({ saturationBatch, throughput }: Pick<ProfiledModel, "saturationBatch" | "throughput">): Float64Array {
  const table = new Float64Array(saturationBatch + 1);
  let before = { batch: 0, tokensPerSecond: 0 };
  for (const point of throughput) {
    for (let batch = before.batch + 1; batch <= Math.min(point.batch, saturationBatch); batch += 1) {
      const share = (batch - before.batch) / (point.batch - before.batch);
      table[batch] = before.tokensPerSecond + share * (point.tokensPerSecond - before.tokensPerSecond);
    }
    before = point;
  }
  return table;
}
