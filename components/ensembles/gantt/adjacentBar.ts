import type { GanttBar, GanttRow } from "./prepareGantt";

/** Key of the bar that an arrow key leads to: along a worker, or to the bar of the next worker that has any which is nearest in time. */
export function adjacentBar(rows: readonly GanttRow[], from: string, arrow: string): string {
  const row = rows.findIndex(({ bars }) => bars.some(({ key }) => key === from));
  const bars = rows[row]?.bars ?? [];
  const turn = bars.findIndex(({ key }) => key === from);
  const bar = bars[turn];
  if (bar === undefined) return rows.find((each) => each.bars.length > 0)?.bars[0]?.key ?? from;
  if (arrow === "ArrowLeft" || arrow === "ArrowRight") return bars[turn + (arrow === "ArrowRight" ? 1 : -1)]?.key ?? from;
  if (arrow === "Home") return bars[0]?.key ?? from;
  if (arrow === "End") return bars.at(-1)?.key ?? from;
  const step = arrow === "ArrowDown" ? 1 : arrow === "ArrowUp" ? -1 : 0;
  if (step === 0) return from;
  for (let next = row + step; next >= 0 && next < rows.length; next += step) {
    const others = rows[next]?.bars ?? [];
    const [first, ...rest] = others;
    if (first === undefined) continue;
    const middle = bar.from + bar.width / 2;
    const away = (each: GanttBar): number => Math.max(each.from - middle, middle - each.from - each.width, 0);
    return rest.reduce((best, each) => (away(each) < away(best) ? each : best), first).key;
  }
  return from;
}
