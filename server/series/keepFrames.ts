import type { LiveFrame } from "@/server/contracts/studio";
import { type EngineQuantity, type GatewayQuantity, type GpuQuantity, quantities, type StageQuantity } from "./quantities";
import type { SeriesBook } from "./seriesBook";

const engineQuantities = Object.keys(quantities.engine) as readonly EngineQuantity[];

export interface KeptBy {
  readonly book: Pick<SeriesBook, "append">;
  /** Price of a GPU of the cluster; null where it is not known. */
  readonly usdPerGpuHour: () => number | null;
}

/** Takes every frame into the book, until there are no more. */
export async function keepFrames(frames: AsyncIterable<LiveFrame>, by: KeptBy): Promise<void> {
  for await (const frame of frames) keepFrame(frame, by);
}

type Values<Quantity extends string> = Partial<Record<Quantity, number | null>>;

/** Of a target whose values are old nothing is kept: they are no samples of this round. */
function keepFrame({ atMs, engines, gpus, gpuSource, gateway }: LiveFrame, { book, usdPerGpuHour }: KeptBy): void {
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
  for (const { node, index, instance, utilisation, memoryUsedBytes, memoryTotalBytes, powerWatts, temperatureCelsius } of gpus) {
    // Parts of a divided GPU share its number.
    const part = instance === null ? "" : `/${instance.id}`;
    const values = { activity: utilisation, memoryUsedBytes, memoryTotalBytes, powerWatts, temperatureCelsius };
    keep<GpuQuantity>(`gpu:${node}/${index}${part}`, values, gpuSource?.state === "fresh");
  }
  const heard = gateway.state === "fresh";
  for (const { model, queued, inFlight, share, escalated, p50Seconds, p95Seconds, p99Seconds, meanJudgedScore } of gateway.stages) {
    keep<StageQuantity>(
      `stage:${model}`,
      { queued, inFlight, share, escalatedShare: escalated, p50Seconds, p95Seconds, p99Seconds, meanJudgedScore },
      heard,
    );
  }
  const price = usdPerGpuHour();
  for (const { model } of gateway.stages) {
    const own = engines.filter((engine) => engine.model === model);
    const written = own.flatMap(({ state, readings }) => {
      const reading = readings?.generationTokensPerSecond;
      return state === "fresh" && reading?.state === "value" && reading.value !== null ? [reading.value] : [];
    });
    keep<StageQuantity>(
      `stage:${model}`,
      {
        // A part of the engines would look like a loss of traffic.
        tokensPerSecond: own.length > 0 && written.length === own.length ? written.reduce((sum, value) => sum + value, 0) : null,
        usdPerHour: price === null ? null : price * own.reduce((sum, { gpus: held }) => sum + held.length, 0),
      },
      true,
    );
  }
  const { requestsPerSecond, errorsPerSecond, refusedPerSecond, unjudgedPerSecond, ttftP95Seconds, overheadP95Seconds } = gateway;
  keep<GatewayQuantity>(
    "gateway",
    { requestsPerSecond, errorsPerSecond, refusedPerSecond, unjudgedPerSecond, ttftP95Seconds, overheadP95Seconds },
    heard,
  );
}
