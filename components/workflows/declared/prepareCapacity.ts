import { type LinesPicture, prepareLines } from "@/components/charts/prepareLines";
import { formatPercent, formatRate, formatScore } from "@/components/ui/format";
import type { CapacityCurve } from "@/server/contracts/studio";

export interface CapacityPicture {
  readonly lines: LinesPicture | null;
  readonly rows: readonly {
    readonly key: string;
    readonly admitted: string;
    readonly rate: string;
    readonly timesLargest: string;
    readonly quality: string;
    readonly loss: string;
  }[];
  readonly says: string;
}

/** Quality against programs per second as fewer configurations count as accurate, compared with the largest models throughout. */
export function prepareCapacity({ points, largest }: CapacityCurve, workflow: string): CapacityPicture {
  const point = (each: CapacityCurve["largest"], tag: string) => ({
    ...{ x: each.programsPerSecond, y: each.quality, tag },
    ...{ xSpan: null, ySpan: null },
  });
  const times = (rate: number) => (largest.programsPerSecond > 0 ? `× ${(rate / largest.programsPerSecond).toFixed(2)}` : "–");
  const lossOf = (quality: number) => {
    const loss = largest.quality - quality;
    return Math.abs(loss) < 0.05 ? "±0" : `${loss > 0 ? "−" : "+"}${formatScore(Math.abs(loss))}`;
  };
  const most = points.reduce((best, { programsPerSecond }) => Math.max(best, programsPerSecond), largest.programsPerSecond);
  return {
    lines: prepareLines({
      lines: [
        {
          ...{ key: "just in time", name: "just in time, admitted", letter: "J", hue: "var(--accent)", dash: "4 4" },
          points: points.map((each) => point(each, formatPercent(each.admitted))),
        },
        {
          ...{ key: "largest", name: "largest models throughout", letter: "L", hue: "var(--ink-2)", dash: "" },
          points: [point(largest, "")],
        },
      ],
      x: { title: "capacity, programs a second", format: formatRate, fromZero: true },
      y: { title: "quality", format: formatScore },
      marked: true,
    }),
    rows: [
      ...points.map(({ admitted, programsPerSecond, quality }, at) => ({
        ...{ key: `${at}`, admitted: formatPercent(admitted), rate: formatRate(programsPerSecond) },
        ...{ timesLargest: times(programsPerSecond), quality: formatScore(quality), loss: lossOf(quality) },
      })),
      {
        ...{ key: "largest", admitted: "the largest alone", rate: formatRate(largest.programsPerSecond) },
        ...{ timesLargest: times(largest.programsPerSecond), quality: formatScore(largest.quality), loss: lossOf(largest.quality) },
      },
    ],
    says: `Modelled: ${workflow} with the largest models throughout finishes ${formatRate(largest.programsPerSecond)} at quality ${formatScore(largest.quality)}; with more configurations admitted up to ${formatRate(most)}.`,
  };
}
