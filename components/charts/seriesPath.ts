/** A point of a line, in pixels. */
export interface PathPoint {
  readonly x: number;
  readonly y: number;
}

/**
 * Every two pixels get at most one point, the lowest and the highest: the difference from one per pixel is not visible, and painting, which
 * is most of the cost of a live chart, is proportional to points.
 */
const COLUMN_PX = 4;

/** Half the length of the dash that shows a lone value between two gaps. */
const LONE_PX = 1.5;

/**
 * A run of points with one for two pixels at most: of each column the lowest and the highest stay, as do the first and the
 * last of the run, so that no spike is lost and none is made. A run that is not too dense stays as it is.
 */
export function thinRun(run: readonly PathPoint[]): readonly PathPoint[] {
  const [first, last] = [run[0], run.at(-1)];
  if (first === undefined || last === undefined || run.length <= (2 * (last.x - first.x)) / COLUMN_PX + 1) return run;
  const kept: PathPoint[] = [];
  for (let at = 0; at < run.length; ) {
    const column = Math.floor(((run[at] as PathPoint).x - first.x) / COLUMN_PX);
    let [low, high] = [at, at];
    let end = at;
    for (; end < run.length && Math.floor(((run[end] as PathPoint).x - first.x) / COLUMN_PX) === column; end += 1) {
      if ((run[end] as PathPoint).y < (run[low] as PathPoint).y) low = end;
      if ((run[end] as PathPoint).y > (run[high] as PathPoint).y) high = end;
    }
    const positions = new Set([
      ...(at === 0 ? [0] : []),
      Math.min(low, high),
      Math.max(low, high),
      ...(end === run.length ? [end - 1] : []),
    ]);
    for (const position of positions) kept.push(run[position] as PathPoint);
    at = end;
  }
  return kept;
}

/** SVG path of a line with gaps between runs. A run of one point is a short dash, so that it is visible. */
export function seriesPath(runs: readonly (readonly PathPoint[])[]): string {
  let path = "";
  for (const run of runs) {
    const thin = thinRun(run);
    const first = thin[0];
    if (first === undefined) continue;
    if (thin.length === 1) {
      path += `M${tenth(first.x - LONE_PX)} ${tenth(first.y)}h${2 * LONE_PX}`;
      continue;
    }
    path += `M${tenth(first.x)} ${tenth(first.y)}L`;
    for (let index = 1; index < thin.length; index += 1) path += `${tenth(thin[index]?.x ?? 0)} ${tenth(thin[index]?.y ?? 0)} `;
  }
  return path;
}

/** To a tenth of a pixel: faster than `toFixed`, and as fine as eyes. */
const tenth = (value: number): number => Math.round(value * 10) / 10;
