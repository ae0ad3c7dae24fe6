import type { LabCell, LabRun } from "@/server/contracts/studio";
import { type LabMetric, overSeeds, type SeedEstimate, type SystemFigures } from "@/solver/lab/overSeeds";
import { type LinePoint, type LinesPicture, prepareLines } from "../charts/prepareLines";
import { formatCount, formatRate, formatScore, formatSeconds } from "../ui/format";
import type { LatencyKind } from "./labCodec";
import type { SystemMark } from "./prepareSystems";

type Run = Pick<LabRun, "cells" | "spec">;

const perToken = (seconds: number): string => `${Number((seconds * 1000).toPrecision(3))}\u00a0ms`;

const latencies = {
  latency: { metric: "meanSeconds", title: "mean latency of programs", format: formatSeconds },
  "per-token": {
    metric: "meanSecondsPerToken",
    title: "mean latency per output token",
    format: perToken,
  },
  "per-token-p95": {
    metric: "p95SecondsPerToken",
    title: "latency per output token, p95 of programs",
    format: perToken,
  },
} as const satisfies Readonly<Record<LatencyKind, { metric: LabMetric; title: string; format: (value: number) => string }>>;

const spanOf = (estimate: SeedEstimate): LinePoint["xSpan"] =>
  estimate.low === null || estimate.high === null ? null : [estimate.low, estimate.high];

/** Systems of one name make one line; its points go in the order of the description. */
function lineOf(mark: SystemMark, points: readonly LinePoint[]) {
  return { key: mark.name, name: mark.name, letter: mark.letter, hue: mark.hue, dash: mark.dash, points };
}

/**
 * Latency against quality at one rate: for each name of which a system is shown, a line through all its slacks. Systems of unknown quality
 * are not included.
 */
export function prepareLabFrontier(
  run: Run,
  systems: { readonly marks: readonly SystemMark[]; readonly shown: readonly SystemMark[] },
  at: { readonly rate: number; readonly latency: LatencyKind },
): LinesPicture | null {
  const { metric, title, format } = latencies[at.latency];
  const figures = overSeeds(run.cells.filter((cell) => cell.rate === at.rate));
  const names = [...new Set(systems.shown.map(({ name }) => name))];
  const lines = names.flatMap((name) => {
    const namesakes = systems.marks.filter((mark) => mark.name === name);
    const points = namesakes.flatMap((mark): LinePoint[] => {
      const own = figures.find(({ system }) => system === mark.index)?.figures;
      const [quality, latency] = [own?.quality ?? null, own?.[metric] ?? null];
      if (quality === null || latency === null) return [];
      return [{ x: quality.value, y: latency.value, xSpan: spanOf(quality), ySpan: spanOf(latency), tag: mark.variant }];
    });
    return namesakes[0] === undefined ? [] : [lineOf(namesakes[0], points)];
  });
  return prepareLines({ lines, x: { title: "quality", format: formatScore }, y: { title, format, fromZero: true }, marked: true });
}

/** A figure against the rate, for the systems shown. */
function againstRate(run: Run, shown: readonly SystemMark[], y: { metric: LabMetric; title: string; format: (value: number) => string }) {
  const figures = overSeeds(run.cells);
  const lines = shown.map((mark) => ({
    ...lineOf(
      mark,
      pointsByRate(
        run,
        figures.filter(({ system }) => system === mark.index),
        y.metric,
      ),
    ),
    key: String(mark.index),
    name: mark.label,
  }));
  return prepareLines({
    lines,
    x: { title: "programs arriving a second", format: formatRate, fromZero: true },
    y: { title: y.title, format: y.format, fromZero: true },
    marked: true,
  });
}

const pointsByRate = (run: Run, figures: readonly SystemFigures[], metric: LabMetric): readonly LinePoint[] =>
  figures
    .flatMap((each): LinePoint[] => {
      const [x, y] = [run.spec.rates[each.rate], each.figures[metric]];
      return x === undefined || y === null ? [] : [{ x, y: y.value, xSpan: null, ySpan: spanOf(y), tag: "" }];
    })
    .sort((a, b) => a.x - b.x);

export const prepareLatencyByRate = (run: Run, shown: readonly SystemMark[], latency: LatencyKind): LinesPicture | null =>
  againstRate(run, shown, latencies[latency]);

export const prepareThroughput = (run: Run, shown: readonly SystemMark[]): LinesPicture | null =>
  againstRate(run, shown, { metric: "programsPerSecond", title: "programs served a second", format: formatRate });

/** Cells of one system at one rate, one per seed. */
const cellsOf = (run: Run, system: number, rate: number): readonly LabCell[] =>
  run.cells.filter((cell) => cell.system === system && cell.rate === rate);

const meanOver = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

/** Shares of programs by latency: quantiles averaged over seeds. The slowest hundredth is left out, which would flatten the rest. */
export function prepareCdf(run: Run, shown: readonly SystemMark[], rate: number): LinesPicture | null {
  const LAST = 99;
  const lines = shown.map((mark) => {
    const cells = cellsOf(run, mark.index, rate);
    const points = Array.from({ length: cells.length === 0 ? 0 : LAST + 1 }, (_, percent): LinePoint => {
      const x = meanOver(cells.map(({ latencyQuantiles }) => latencyQuantiles[percent] ?? Number.NaN));
      return { x, y: percent, xSpan: null, ySpan: null, tag: "" };
    });
    return { ...lineOf(mark, points), key: String(mark.index), name: mark.label };
  });
  return prepareLines({
    lines,
    x: { title: "latency of a program", format: formatSeconds, fromZero: true },
    y: { title: "served by then, of 100 programs", format: formatCount, domain: [0, 100] },
    marked: false,
  });
}

/**
 * Mean queue time by how much a program wrote, in tenths of programs: what an order by length gains for short programs and costs long ones.
 */
export function prepareQueueByLength(run: Run, shown: readonly SystemMark[], rate: number): LinesPicture | null {
  const lines = shown.map((mark) => {
    const cells = cellsOf(run, mark.index, rate);
    const tenths = Math.max(0, ...cells.map(({ queueByLength }) => queueByLength.length));
    const points = Array.from({ length: tenths }, (_, tenth): LinePoint => {
      const parts = cells.flatMap(({ queueByLength }) => queueByLength[tenth] ?? []);
      const programs = parts.reduce((sum, part) => sum + part.programs, 0);
      const seconds = parts.reduce((sum, part) => sum + part.programs * part.meanQueueSeconds, 0);
      const most = Math.round(meanOver(parts.map(({ mostTokens }) => mostTokens)));
      return { x: tenth + 1, y: seconds / programs, xSpan: null, ySpan: null, tag: `up to ${formatCount(most)} tokens` };
    });
    return { ...lineOf(mark, points), key: String(mark.index), name: mark.label };
  });
  return prepareLines({
    lines,
    x: { title: "tenth of programs, fewest tokens first", format: formatCount, domain: [0.6, 10.4] },
    y: { title: "mean queue time of a program", format: formatSeconds, fromZero: true },
    marked: false,
  });
}

export interface ShareRow {
  readonly mark: SystemMark;
  /** By model in the order of the description's engines: share of requests, and of what its engines may hold that they held; means over seeds. */
  readonly models: readonly { readonly model: string; readonly share: number; readonly fullShare: number }[];
}

/** Which models answered under each system, and how busy their engines were. */
export function prepareShares(run: Run, shown: readonly SystemMark[], rate: number): readonly ShareRow[] {
  return shown.flatMap((mark) => {
    const cells = cellsOf(run, mark.index, rate);
    const names = [...new Set(cells.flatMap(({ models }) => models.map(({ model }) => model)))];
    const models = names.map((model) => {
      const own = cells.map((cell) => cell.models.find((each) => each.model === model));
      return {
        model,
        share: meanOver(own.map((each) => each?.share ?? 0)),
        fullShare: meanOver(own.map((each) => each?.fullShare ?? 0)),
      };
    });
    return cells.length === 0 ? [] : [{ mark, models }];
  });
}
