/**
 * Public names that changed, new name to old. For one release the old names are still accepted in requests and environments and still
 * emitted in addition to the new ones; then this file and its uses are deleted.
 */

/** Request headers. If a client sends both, the new one is used. */
export const deprecatedHeaders: Readonly<Record<string, string>> = {
  "x-weir-parents": "x-weir-upstream",
  "x-weir-started-at": "x-weir-start",
};

/** Prometheus metrics of the gateway. Both are exposed with the same values. */
export const deprecatedMetrics: Readonly<Record<string, string>> = {
  weir_gateway_aborted_total: "weir_gateway_ended_total",
  weir_gateway_judge_circuit_open: "weir_gateway_judge_resting",
};

/** Environment variables. If both are set, the new one is used. */
export const deprecatedVariables: Readonly<Record<string, string>> = {
  WEIR_EMULATOR_NOISE: "WEIR_TRUTH",
};
