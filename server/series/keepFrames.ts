import type { LiveFrame } from "@/server/contracts/studio";
import type { ClusterSpec } from "@/solver/plan/clusterSpec";
import { heldUsdPerHour } from "./heldUsdPerHour";
import { type EngineQuantity, type GatewayQuantity, type GpuQuantity, quantities, type StageQuantity } from "./quantities";
import type { SeriesBook } from "./seriesBook";

const engineQuantities = Object.keys(quantities.engine) as readonly EngineQuantity[];

export interface KeptBy {
  readonly book: Pick<SeriesBook, "append">;
  /** With the prices of its GPUs; null if it is not known. */
  readonly cluster: () => ClusterSpec | null;
}

/** Adds every frame to the book, until there are no more. */
export async function keepFrames(frames: AsyncIterable<LiveFrame>, by: KeptBy): Promise<void> {
  for await (const frame of frames) keepFrame(frame, by);
}

type Values<Quantity extends string> = Partial<Record<Quantity, number | null>>;

/** Of a target whose values are old nothing is kept: they are no samples of this round. */
function keepFrame({ atMs, engines, models, gpus, gpuSources, gateway, recent }: LiveFrame, { book, cluster }: KeptBy): void {
  const keep = <Quantity extends string>(subject: string, values: Values<Quantity>, fresh: boolean): void => {
    for (const [quantity, value] of Object.entries<number | null | undefined>(values)) {
      book.append(atMs, subject, quantity, fresh ? (value ?? null) : null);
    }
  };
  for (const { id, state, readings } of engines) {
    for (const quantity of engineQuantities) {
      const reading = readings?.[quantity];
      book.append(atMs, `engine:${id}`, quantity, state === "fresh" && reading?.state === "value" ? reading.value : null);
    }
  }
  const freshSources = new Set(gpuSources.filter(({ state }) => state === "fresh").map(({ name }) => name));
  for (const { node, index, instance, source, utilisation, memoryUsedBytes, memoryTotalBytes, powerWatts, temperatureCelsius } of gpus) {
    // Parts of a divided GPU share its number.
    const part = instance === null ? "" : `/${instance.id}`;
    const values = { activity: utilisation, memoryUsedBytes, memoryTotalBytes, powerWatts, temperatureCelsius };
    keep<GpuQuantity>(`gpu:${node}/${index}${part}`, values, freshSources.has(source));
  }
  const heard = gateway.state === "fresh";
  for (const [at, { model, queued, inFlight }] of gateway.stages.entries()) {
    const { escalated: escalatedShare = null, ...stage } = recent.stages[at] ?? {};
    keep<StageQuantity>(`stage:${model}`, { queued, inFlight, escalatedShare, ...stage }, heard);
  }
  const spec = cluster();
  // Engines are watched whether or not a gateway is heard.
  for (const model of new Set([...gateway.stages, ...models].map((one) => one.model))) {
    const { model: _, limits: __, ...latencies } = models.find((one) => one.model === model) ?? {};
    const own = engines.filter((engine) => engine.model === model);
    const usdPerHour = spec === null ? null : heldUsdPerHour(own, engines, spec);
    keep<StageQuantity>(`stage:${model}`, { ...latencies, ...levelsOf(own), usdPerHour }, true);
  }
  const { requestsPerSecond, errorsPerSecond, refusedPerSecond, shedPerSecond, unjudgedPerSecond, queuedForAny } = gateway;
  const { p50Seconds, p95Seconds, p99Seconds, meanQuality, ttftP95Seconds, overheadP95Seconds } = recent;
  keep<GatewayQuantity>(
    "gateway",
    {
      requestsPerSecond,
      errorsPerSecond,
      refusedPerSecond,
      shedPerSecond,
      unjudgedPerSecond,
      queuedForAny,
      endToEndP50Seconds: p50Seconds,
      endToEndP95Seconds: p95Seconds,
      endToEndP99Seconds: p99Seconds,
      meanQuality,
      ttftP95Seconds,
      overheadP95Seconds,
    },
    heard,
  );
}

/** Of a model's engines together. Sums are of all of them or not known: a part of the engines would look like a loss of traffic. */
function levelsOf(engines: LiveFrame["engines"]): Values<StageQuantity> {
  const known = (name: EngineQuantity): readonly number[] =>
    engines.flatMap(({ state, readings }) => {
      const reading = readings?.[name];
      return state === "fresh" && reading?.state === "value" && reading.value !== null ? [reading.value] : [];
    });
  const sum = (values: readonly number[]): number | null =>
    engines.length > 0 && values.length === engines.length ? values.reduce((total, value) => total + value, 0) : null;
  const kvUse = known("kvUse");
  return {
    tokensPerSecond: sum(known("generationTokensPerSecond")),
    preemptionsPerSecond: sum(known("preemptionsPerSecond")),
    kvUse: kvUse.length === 0 ? null : Math.max(...kvUse),
  };
}
