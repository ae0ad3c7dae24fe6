import type { ChartSeries } from "@/components/charts/chartSpec";
import { gpuActivity, gpuMemory } from "./gpuCharts";
import {
  drawnAs,
  engineKey,
  escalatedOf,
  gatewayKey,
  hueOf,
  type Identities,
  type LiveChartSpec,
  percentiles,
  promisedLine,
  shadeOf,
  stageKey,
} from "./liveCharts";
import type { Subjects } from "./prepareSubjects";

/** A line for each model, in its hue. */
const byModel = (
  { models }: Subjects,
  identities: Identities,
  lineOf: (model: string) => Pick<ChartSeries, "key"> & Partial<ChartSeries>,
): readonly ChartSeries[] => models.map((model) => ({ name: model, hue: hueOf(identities, model), dashed: false, ...lineOf(model) }));

/** Charts of a whole cluster: client-side figures, then the models, then the hardware and its cost. */
export function clusterCharts(subjects: Subjects, identities: Identities): readonly LiveChartSpec[] {
  const { engines, gpus } = subjects;
  const lines = (quantity: Parameters<typeof stageKey>[1]) =>
    byModel(subjects, identities, (model) => ({ key: stageKey(model, quantity) }));
  const inFlight = [
    ...byModel(subjects, identities, (model) => ({ key: stageKey(model, "inFlight"), name: `${model} in flight` })),
    ...byModel(subjects, identities, (model) => ({ key: stageKey(model, "queued"), name: `${model} queued`, dashed: true })),
    ...(subjects.models.length === 0
      ? []
      : [{ key: gatewayKey("queuedForAny"), name: "queued for any model", hue: "var(--ink)", dashed: true }]),
  ];
  const total = { subject: "cluster", quantity: "usdPerHour" };
  const costs = lines("usdPerHour");
  return [
    {
      ...drawnAs.spikes,
      id: "requests",
      title: "Requests",
      series: [
        { key: gatewayKey("requestsPerSecond"), name: "answered", hue: "var(--accent)", dashed: false },
        { key: gatewayKey("errorsPerSecond"), name: "errors", hue: "var(--bad)", dashed: true },
        { key: gatewayKey("refusedPerSecond"), name: "refused", hue: "var(--warn)", dashed: false },
        { key: gatewayKey("shedPerSecond"), name: "shed", hue: "var(--warn)", dashed: true },
      ],
      empty: "The gateway reported no rate in this time.",
    },
    {
      ...drawnAs.seconds,
      id: "end-to-end",
      title: "Latency end to end",
      note: "judges included",
      recent: true,
      series: percentiles((percent) => gatewayKey(`endToEndP${percent}Seconds`)),
      promised: ({ p95Band, p95Seconds }) => [{ low: p95Band.low, high: p95Band.high, value: p95Seconds }],
      promise: "predicted p95",
      empty: "No request was finished in this time.",
    },
    {
      ...drawnAs.seconds,
      id: "client-ttft",
      title: "Time to first token, p95",
      note: "at the client",
      recent: true,
      series: [{ key: gatewayKey("ttftP95Seconds"), name: "p95", hue: "var(--ink)", dashed: false }],
      empty: "No first token was sent in this time.",
    },
    {
      ...drawnAs.count,
      id: "in-flight",
      title: "In flight and queued, by model",
      note: "requests at the gateway",
      series: inFlight,
      empty: "The gateway reported no stage in this time.",
    },
    {
      ...drawnAs.seconds,
      id: "stages",
      title: "Latency of stages, p95",
      note: "queue and engine",
      recent: true,
      series: lines("p95Seconds"),
      promised: ({ stages }) =>
        stages.map(({ model, p95Seconds, bands }) => ({
          ...(bands?.p95Seconds ?? { low: p95Seconds, high: p95Seconds }),
          value: p95Seconds,
          hue: hueOf(identities, model),
        })),
      promise: "predicted p95",
      empty: "No request went through a stage in this time.",
    },
    {
      ...drawnAs.tokens,
      id: "tokens",
      title: "Tokens written, by model",
      series: lines("tokensPerSecond"),
      empty: "No model has token rates from all of its engines.",
      reads: ["generationTokensPerSecond"],
    },
    {
      ...drawnAs.share,
      draws: "max",
      id: "kv",
      title: "KV cache in use, by engine",
      note: "of the fullest rank",
      series: engines.map(({ id, model }, at) => ({ key: engineKey(id, "kvUse"), name: id, ...shadeOf(hueOf(identities, model), at) })),
      empty: "No engine reported its KV use in this time.",
      reads: ["kvUse"],
    },
    {
      ...drawnAs.spikes,
      id: "preemptions",
      title: "Preemptions, by model",
      series: lines("preemptionsPerSecond"),
      empty: "No engine reported preemptions in this time.",
      reads: ["preemptionsPerSecond"],
    },
    {
      ...drawnAs.share,
      id: "escalated",
      title: "Escalated share, by model",
      note: "of those that reach it",
      recent: true,
      series: lines("escalatedShare"),
      promised: ({ stages }) =>
        stages.slice(0, -1).flatMap(({ model, share }, at) => {
          const next = stages[at + 1];
          return share === 0 || next === undefined ? [] : [promisedLine(escalatedOf(share, next), hueOf(identities, model))];
        }),
      empty: "Nothing was judged in this time.",
    },
    {
      ...drawnAs.score,
      id: "judged",
      title: "Judged score, by model",
      note: "mean",
      recent: true,
      series: lines("meanJudgedScore"),
      empty: "Nothing was judged in this time.",
    },
    {
      ...drawnAs.score,
      id: "quality",
      title: "Quality of answers",
      note: "mean label",
      recent: true,
      series: [{ key: gatewayKey("meanQuality"), name: "measured", hue: "var(--ink)", dashed: false }],
      promised: ({ quality, qualityBand }) => [{ low: qualityBand.low, high: qualityBand.high, value: quality }],
      empty: "No answer in this time has a label.",
    },
    {
      ...drawnAs.seconds,
      id: "overhead",
      title: "Time of the gateway itself, p95",
      recent: true,
      series: [{ key: gatewayKey("overheadP95Seconds"), name: "p95", hue: "var(--ink)", dashed: false }],
      empty: "The gateway did not report its own time.",
    },
    gpuActivity(gpus, identities, "node when many"),
    gpuMemory(gpus, identities),
    {
      ...drawnAs.usd,
      id: "cost",
      title: "Cost per hour, by model",
      note: "of the GPUs its engines hold",
      series: [...costs, ...(costs.length > 1 ? [{ key: total, name: "all", hue: "var(--ink)", dashed: false }] : [])],
      derived: [{ key: total, of: costs.map(({ key }) => key), how: "sum" }],
      promised: ({ costUsdPerHour }) => [promisedLine(costUsdPerHour)],
      promise: "predicted, all",
      empty: "No price is known of these GPUs.",
    },
  ];
}
