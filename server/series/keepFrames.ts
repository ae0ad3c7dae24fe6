import type { LiveFrame } from "@/server/contracts/studio";
import type { EngineQuantity, GatewayQuantity, GpuQuantity, StageQuantity } from "./quantities";
import type { SeriesBook } from "./seriesBook";

/** Takes every frame into the book, until there are no more. */
export async function keepFrames(frames: AsyncIterable<LiveFrame>, book: Pick<SeriesBook, "append">): Promise<void> {
  for await (const frame of frames) keepFrame(frame, book);
}

type Values<Quantity extends string> = Partial<Record<Quantity, number | null>>;

/** Of a target whose values are old nothing is kept: they are no samples of this round. */
function keepFrame({ atMs, engines, gpus, gateway }: LiveFrame, book: Pick<SeriesBook, "append">): void {
  const keep = <Quantity extends string>(subject: string, values: Values<Quantity>, fresh = true): void => {
    for (const [quantity, value] of Object.entries<number | null | undefined>(values)) {
      book.append(atMs, subject, quantity, fresh ? (value ?? null) : null);
    }
  };
  for (const { id, state, running, waiting, kvUse, requestsPerSecond, ttftP95Seconds } of engines) {
    keep<EngineQuantity>(`engine:${id}`, { running, waiting, kvUse, requestsPerSecond, ttftP95Seconds }, state === "fresh");
  }
  for (const { node, index, utilisation, memoryUsedBytes, memoryTotalBytes } of gpus) {
    keep<GpuQuantity>(`gpu:${node}/${index}`, { activity: utilisation, memoryUsedBytes, memoryTotalBytes });
  }
  const heard = gateway.state === "fresh";
  for (const { model, queued, inFlight, share, escalated, p95Seconds, meanJudgedScore } of gateway.stages) {
    keep<StageQuantity>(`stage:${model}`, { queued, inFlight, share, escalatedShare: escalated, p95Seconds, meanJudgedScore }, heard);
  }
  const { requestsPerSecond, errorsPerSecond, refusedPerSecond, unjudgedPerSecond, ttftP95Seconds } = gateway;
  keep<GatewayQuantity>("gateway", { requestsPerSecond, errorsPerSecond, refusedPerSecond, unjudgedPerSecond, ttftP95Seconds }, heard);
}
