import type { Store } from "@/server/store/store";
import type { MeasuredEngine } from "@/solver/hardware/measuredEngine";
import { measuredProfile } from "@/solver/hardware/measuredProfile";

const limit = { value: 16, origin: "reported" } as const;
const points = [
  { at: 0, seconds: 0 },
  { at: 1, seconds: 0.01 },
];
const span = { least: 1, most: 16 };

/** An engine that takes 10 ms a step, on one GPU. */
export const testMeasured = ({ engine, model, gpu }: Pick<MeasuredEngine, "engine" | "model" | "gpu">): MeasuredEngine => ({
  ...{ engine, model, gpu, shape: { tp: 1, pp: 1 } },
  step: { decode: points, prefill: points, secondsPerPrompt: 0, secondsPerKvToken: 0, secondsPerPair: 0 },
  request: { seconds: 0, secondsPerInputToken: 0, secondsPerOutputToken: 0, delaySeconds: 0 },
  limits: { kvTokens: limit, maxSequences: limit, maxBatchedTokens: limit, contextTokens: limit },
  ...{ errors: null, p95Errors: null, noise: null },
  measuredOn: { runs: 9, requests: 90, inputTokens: span, outputTokens: span, concurrency: span, asOf: "2026-11-28", source: "an engine" },
});

/** Stores a profile of measured engines, "p", which plans use from now on. */
export function planWithMeasured({ calibrations }: Pick<Store, "calibrations">, engines: readonly MeasuredEngine[]): void {
  const at = new Date(0).toISOString();
  calibrations.insert({ profile: measuredProfile({ id: "p", name: "P", engine: "vllm" }, engines), createdAt: at, actor: "ann" });
  calibrations.use({ profileId: "p", at, actor: "ann" });
}
