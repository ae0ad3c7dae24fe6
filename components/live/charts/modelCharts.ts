import {
  drawnAs,
  ENGINE_WINDOW,
  engineKey,
  escalatedOf,
  hueOf,
  type Identities,
  type LiveChartSpec,
  percentiles,
  promisedLine,
  shadeOf,
  stageKey,
} from "./liveCharts";
import type { Subjects } from "./prepareSubjects";

/** Charts of one model: from the gateway, then over its replicas and replica by replica. */
export function modelCharts({ engines }: Subjects, model: string, identities: Identities): readonly LiveChartSpec[] {
  const hue = hueOf(identities, model);
  const replicas = engines.filter((engine) => engine.model === model);
  const byReplica = (quantity: Parameters<typeof engineKey>[1], word = "") =>
    replicas.map(({ id }, at) => ({ key: engineKey(id, quantity), name: word === "" ? id : `${id} ${word}`, ...shadeOf(hue, at) }));
  const line = (quantity: Parameters<typeof stageKey>[1], name: string, dashed = false) => ({
    key: stageKey(model, quantity),
    name,
    hue,
    dashed,
  });
  const merged = `all replicas, ${ENGINE_WINDOW}`;
  return [
    {
      ...drawnAs.count,
      id: "model-in-flight",
      title: "In flight and queued",
      note: "requests at the gateway",
      series: [line("inFlight", "in flight"), line("queued", "queued", true)],
      empty: "The gateway reported nothing for this stage in this time.",
    },
    {
      ...drawnAs.seconds,
      id: "model-latency",
      title: "Latency of the stage",
      note: "queue and engine",
      recent: true,
      series: percentiles((percent) => stageKey(model, `p${percent}Seconds`)),
      promised: ({ stages }) =>
        stages
          .filter((stage) => stage.model === model)
          .map(({ p95Seconds, bands }) => ({ ...(bands?.p95Seconds ?? { low: p95Seconds, high: p95Seconds }), value: p95Seconds })),
      promise: "predicted p95",
      empty: "No request went through this stage in this time.",
    },
    {
      ...drawnAs.seconds,
      id: "model-ttft",
      title: "Time to first token",
      note: merged,
      series: percentiles((percent) => stageKey(model, `ttftP${percent}Seconds`)),
      promised: ({ stages }) =>
        stages
          .filter((stage) => stage.model === model)
          .map(({ ttftP95Seconds, bands }) => ({
            ...(bands?.ttftP95Seconds ?? { low: ttftP95Seconds, high: ttftP95Seconds }),
            value: ttftP95Seconds,
          })),
      promise: "predicted p95",
      empty: "No first token was written in this time.",
      reads: ["ttftP95Seconds"],
    },
    {
      ...drawnAs.seconds,
      id: "model-tpot",
      title: "Time per output token",
      note: merged,
      series: percentiles((percent) => stageKey(model, `tpotP${percent}Seconds`)),
      empty: "No request was finished in this time.",
      reads: ["tpotP95Seconds"],
    },
    {
      ...drawnAs.count,
      id: "model-replicas",
      title: "Running, by replica",
      note: "requests in its batch",
      series: byReplica("running"),
      empty: "No replica reported running requests.",
      reads: ["running"],
    },
    {
      ...drawnAs.count,
      id: "model-waiting",
      title: "Waiting, by replica",
      note: "requests in its own queue",
      series: byReplica("waiting"),
      empty: "No replica reported waiting requests.",
      reads: ["waiting"],
    },
    {
      ...drawnAs.tokens,
      id: "model-tokens",
      title: "Tokens written, by replica",
      series: byReplica("generationTokensPerSecond"),
      empty: "No replica reported tokens written.",
      reads: ["generationTokensPerSecond"],
    },
    {
      ...drawnAs.share,
      draws: "max",
      id: "model-kv",
      title: "KV cache in use, by replica",
      note: "of the fullest rank",
      series: byReplica("kvUse"),
      empty: "No replica reported its KV use.",
      reads: ["kvUse"],
    },
    {
      ...drawnAs.spikes,
      id: "model-preemptions",
      title: "Preemptions, by replica",
      series: byReplica("preemptionsPerSecond"),
      empty: "No replica reported preemptions.",
      reads: ["preemptionsPerSecond"],
    },
    {
      ...drawnAs.share,
      id: "model-share",
      title: "Share of requests and share escalated",
      recent: true,
      series: [line("share", "reach it"), { ...line("escalatedShare", "go on to the next", true), hue: "var(--ink-2)" }],
      promised: ({ stages }) =>
        stages.flatMap((stage, at) => {
          if (stage.model !== model) return [];
          const next = stages[at + 1];
          const reach = { ...(stage.shareBand ?? { low: stage.share, high: stage.share }), value: stage.share, hue };
          return next === undefined || stage.share === 0 ? [reach] : [reach, promisedLine(escalatedOf(stage.share, next), "var(--ink-2)")];
        }),
      empty: "No request reached this stage in this time.",
    },
    {
      ...drawnAs.score,
      id: "model-judged",
      title: "Judged score",
      note: "mean",
      recent: true,
      series: [line("meanJudgedScore", "judged")],
      empty: "No answer of this model was judged in this time.",
    },
    {
      ...drawnAs.usd,
      id: "model-cost",
      title: "Cost per hour",
      note: "of the GPUs its engines hold",
      series: [line("usdPerHour", "cost")],
      empty: "No price is known of these GPUs.",
    },
  ];
}
