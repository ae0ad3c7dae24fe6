import type { GatewayQuantity, GpuQuantity, StageQuantity, SubjectKind } from "./quantities";

/**
 * Makes the PromQL of a quantity for some subjects of a kind at once, one series of the result for each.
 *
 * @param match label matchers of the subjects, to go between the braces.
 * @param window of rates, as a PromQL duration.
 */
export type PromQuery = (match: string, window: string) => string;

const BYTES_PER_MIB = 1024 * 1024;

/** Labels that tell subjects of a kind apart in Prometheus. */
export const subjectLabels: Readonly<Record<SubjectKind, readonly string[]>> = {
  engine: ["instance"],
  gpu: ["Hostname", "gpu"],
  stage: ["model"],
  gateway: [],
};

const by = (...labels: readonly string[]): string => `by (${labels.join(", ")})`;

const quantileOf = (q: number, labels: readonly string[], series: string, window: string): string =>
  `histogram_quantile(${q}, sum ${by(...labels, "le")} (rate(${series}[${window}])))`;

const gpu =
  (of: (metric: (name: string) => string) => string): PromQuery =>
  (match) =>
    of((name) => `max ${by(...subjectLabels.gpu)} (${name}{${match}})`);

const perModel =
  (metric: string, matchers: string): PromQuery =>
  (match, window) =>
    `sum ${by("model")} (rate(${metric}{${match}${matchers}}[${window}]))`;

const overall =
  (metric: string, matchers = ""): PromQuery =>
  (match, window) =>
    `sum (rate(${metric}{${match}${matchers}}[${window}]))`;

const overallQuantile =
  (q: number, metric: string): PromQuery =>
  (match, window) =>
    quantileOf(q, [], `${metric}_bucket{${match}}`, window);

const failures = overall("weir_gateway_requests_total", ',status=~"429|5.."');
const shed = overall("weir_gateway_shed_total");
const escalated = perModel("weir_gateway_stage_answers_total", ',verdict="escalated"');
const answers = perModel("weir_gateway_stage_answers_total", "");

/**
 * PromQL of every quantity that a Prometheus server knows of GPUs, from dcgm-exporter, and of Weir's gateway. What is missing here is in
 * no exposition, as judged scores, labels and times of stages with their queues, which are in the gateway's records, and prices; or it is
 * the engines' of a model, which carry its name under labels that differ from engine to engine.
 */
export const promQueries: {
  readonly gpu: Partial<Record<GpuQuantity, PromQuery>>;
  readonly stage: Partial<Record<StageQuantity, PromQuery>>;
  readonly gateway: Partial<Record<GatewayQuantity, PromQuery>>;
} = {
  gpu: {
    activity: gpu((metric) => `${metric("DCGM_FI_PROF_GR_ENGINE_ACTIVE")} or ${metric("DCGM_FI_DEV_GPU_UTIL")} / 100`),
    memoryUsedBytes: gpu((metric) => `${metric("DCGM_FI_DEV_FB_USED")} * ${BYTES_PER_MIB}`),
    memoryTotalBytes: gpu((metric) => {
      const [used, free, reserved] = ["USED", "FREE", "RESERVED"].map((part) => metric(`DCGM_FI_DEV_FB_${part}`));
      // Old exporters do not export the reserved memory.
      return `(${used} + ${free} + (${reserved} or ${used} * 0)) * ${BYTES_PER_MIB}`;
    }),
    powerWatts: gpu((metric) => metric("DCGM_FI_DEV_POWER_USAGE")),
    temperatureCelsius: gpu((metric) => metric("DCGM_FI_DEV_GPU_TEMP")),
  },
  stage: {
    // The gateway lists a model from the first request on that had to wait for it.
    queued: (match) =>
      `sum ${by("model")} (weir_gateway_queued{${match}}) or sum ${by("model")} (weir_gateway_replica_accepting{${match}}) * 0`,
    inFlight: (match) => `sum ${by("model")} (weir_gateway_in_flight{${match}})`,
    escalatedShare: (match, window) => `(${escalated(match, window)} or ${answers(match, window)} * 0) / ${answers(match, window)}`,
    tokensPerSecond: perModel("weir_gateway_tokens_total", ',direction="output"'),
  },
  gateway: {
    requestsPerSecond: overall("weir_gateway_requests_total", ',status!~"4..|5.."'),
    // What was shed is counted among them. Either has no series before the first.
    errorsPerSecond: (match, window) => `clamp_min(${failures(match, window)} - (${shed(match, window)} or vector(0)), 0)`,
    shedPerSecond: shed,
    // Lines of no one model are named as policies are served.
    queuedForAny: (match) => `sum (weir_gateway_queued{${match},model=~"cascade/.+|canary"}) or sum (weir_gateway_queued{${match}}) * 0`,
    unjudgedPerSecond: overall("weir_gateway_unjudged_answers_total"),
    endToEndP50Seconds: overallQuantile(0.5, "weir_gateway_request_seconds"),
    endToEndP95Seconds: overallQuantile(0.95, "weir_gateway_request_seconds"),
    endToEndP99Seconds: overallQuantile(0.99, "weir_gateway_request_seconds"),
    ttftP95Seconds: overallQuantile(0.95, "weir_gateway_time_to_first_token_seconds"),
    overheadP95Seconds: overallQuantile(0.95, "weir_gateway_overhead_seconds"),
  },
};
