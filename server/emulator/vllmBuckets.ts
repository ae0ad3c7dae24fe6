/** Bucket edges of vLLM (`vllm/v1/metrics/buckets.py`), so that quantiles are comparable with real engines'. */
export const TTFT_BUCKETS = [
  0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80, 160, 640, 2560,
];
export const TOKEN_BUCKETS = [0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1, 2.5, 5, 7.5, 10, 20, 40, 80];
export const REQUEST_BUCKETS = [0.3, 0.5, 0.8, 1, 1.5, 2, 2.5, 5, 10, 15, 20, 30, 40, 50, 60, 120, 240, 480, 960, 1920, 7680];
export const STEP_BUCKETS = [1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384];
export const CHOICE_BUCKETS = [1, 2, 5, 10, 20];
export const PREEMPTION_BUCKETS = [1, 2, 3, 4, 5, 10, 20];

/** 1, 2, 5, 10, 20 … up to the longest context. */
export function countBuckets(mostTokens: number): number[] {
  const buckets: number[] = [];
  for (let scale = 1; scale <= mostTokens; scale *= 10)
    buckets.push(...[1, 2, 5].map((digit) => digit * scale).filter((edge) => edge <= mostTokens));
  return buckets;
}
