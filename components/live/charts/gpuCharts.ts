import { formatCount, formatGibibytes } from "@/components/ui/format";
import { drawnAs, gpuKey, hueOf, type Identities, type LiveChartSpec, shadeOf } from "./liveCharts";
import type { GpuSubject } from "./prepareSubjects";

/** More lines than this are aggregated to one per node. */
const MOST_LINES = 12;
const GIBIBYTE = 1024 ** 3;

function nodesOf(gpus: readonly GpuSubject[]): readonly { readonly node: string; readonly gpus: readonly GpuSubject[] }[] {
  const names = [...new Set(gpus.map(({ node }) => node))].sort();
  return names.map((node) => ({ node, gpus: gpus.filter((gpu) => gpu.node === node) }));
}

const lines = (gpus: readonly GpuSubject[], identities: Identities, quantity: Parameters<typeof gpuKey>[1]) =>
  gpus.map(({ subject, node, name, model }, at) => ({
    key: gpuKey(subject, quantity),
    name: nodesOf(gpus).length > 1 ? `${node} ${name}` : name,
    ...shadeOf(hueOf(identities, model), at),
  }));

export function gpuActivity(gpus: readonly GpuSubject[], identities: Identities, each: "GPU" | "node when many"): LiveChartSpec {
  const chart = { ...drawnAs.share, id: "gpu-activity", empty: "No GPU activity was reported in this time." };
  if (each === "GPU" || gpus.length <= MOST_LINES) {
    return { ...chart, title: "GPU activity", note: "share of the time", series: lines(gpus, identities, "activity") };
  }
  const nodes = nodesOf(gpus).map(({ node, gpus: own }, at) => ({
    series: { key: { subject: `node:${node}`, quantity: "activity" }, name: node, ...shadeOf("var(--accent)", at) },
    of: own.map(({ subject }) => gpuKey(subject, "activity")),
  }));
  return {
    ...chart,
    title: "GPU activity, by node",
    note: "mean of its GPUs",
    series: nodes.map(({ series }) => series),
    derived: nodes.map(({ series, of }) => ({ key: series.key, of, how: "mean" })),
  };
}

/** Memory in use as a share of the total: of the stored total where the newest frame lacks it, as while the exporter hangs. */
export function gpuMemory(gpus: readonly GpuSubject[], identities: Identities): LiveChartSpec {
  const shareKey = (subject: string) => ({ subject, quantity: "memoryShare" });
  return {
    ...drawnAs.share,
    id: "gpu-memory",
    title: "GPU memory in use",
    note: "share of what there is",
    series: lines(gpus, identities, "memoryUsedBytes").map((line) => ({ ...line, key: shareKey(line.key.subject) })),
    derived: gpus.map(({ subject, memoryTotalBytes: total }) => {
      const [key, used] = [shareKey(subject), gpuKey(subject, "memoryUsedBytes")];
      return total === null || total === 0
        ? { key, of: [used, gpuKey(subject, "memoryTotalBytes")], how: "share" }
        : { key, of: [used], how: "sum", times: 1 / total };
    }),
    empty: "No GPU memory was reported in this time.",
  };
}

/** Charts of the GPUs of one node, parts of divided ones too. */
export function gpuCharts(gpus: readonly GpuSubject[], node: string, identities: Identities): readonly LiveChartSpec[] {
  const own = gpus.filter((gpu) => gpu.node === node);
  const most = Math.max(0, ...own.map(({ memoryTotalBytes }) => memoryTotalBytes ?? 0));
  return [
    gpuActivity(own, identities, "GPU"),
    {
      unit: " GiB",
      perUnit: GIBIBYTE,
      format: formatGibibytes,
      draws: "max",
      atLeast: most,
      id: "gpu-memory-bytes",
      title: "GPU memory in use",
      ...(most > 0 ? { note: `of ${formatGibibytes(most)} at most` } : {}),
      series: lines(own, identities, "memoryUsedBytes"),
      empty: "No GPU memory was reported in this time.",
    },
    {
      unit: " W",
      format: (watts) => `${formatCount(watts)} W`,
      draws: "max",
      id: "gpu-power",
      title: "Power draw",
      series: lines(own, identities, "powerWatts"),
      empty: "No power draw was reported in this time.",
    },
    {
      unit: " °C",
      format: (celsius) => `${formatCount(celsius)} °C`,
      draws: "max",
      id: "gpu-temperature",
      title: "Temperature",
      series: lines(own, identities, "temperatureCelsius"),
      empty: "No temperature was reported in this time.",
    },
  ];
}
