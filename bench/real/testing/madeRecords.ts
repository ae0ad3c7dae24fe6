import { Records } from "../records";

export const profile = "hash of the profile";

const measuredBase = {
  sent: 111,
  requests: 100,
  failed: 0,
  inputTokens: 1,
  outputTokens: 1,
  lateP95: 0,
  lateMost: 0,
  p95Low: 0,
  p95High: 9,
};
const times = { mean: 1, p50: 1, p95: 1.2, p99: 2, ttft: 0.1, tpot: null };

/** Records in a file that is not read again. */
export const recordsIn = (file: string): Records => new Records(file, { commit: "abc1234", machine: "2 x cores" });

const predictedOf = (refused: string | null) => {
  return { ...times, p95Low: 0.9, p95High: 1.05, utilisation: 0.5, refused, plan: refused === null ? "x" : null };
};

/** Adds the prediction of a run: a p95 of 1.2 s, 0.9 to 1.05 s its band. */
export function addPredicted(records: Records, key: string, refused: string | null = null): void {
  const predicted = predictedOf(refused);
  records.add({ kind: "predicted", key, requestsPerSecond: 5, profile, predicted, p95OtherPart: null });
}

/** Adds a run that began at some time, by default now. */
export function addMeasured(records: Records, key: string, p95: number, of: { readonly beganMs?: number; readonly profile?: string } = {}) {
  const measured = { ...measuredBase, ...times, p95, ttft: 0.2, tpot: 0.1 };
  const load = { key, requestsPerSecond: 5, profile, beganMs: Date.now(), ...of };
  records.add({ kind: "measured", ...load, measured });
}
