/** A point in the chart's units. */
export interface Mark {
  readonly x: number;
  readonly y: number;
}

/** The same in pixels. */
export interface Pixel {
  readonly px: number;
  readonly py: number;
}

export type Placed<Point> = Point & Pixel;

export interface Box extends Mark {
  readonly width: number;
  readonly height: number;
}

/** The key of the nearest within reach, in pixels; null where none is. */
export function nearest(placed: readonly (Pixel & { readonly key: string })[], at: Pixel, reach: number): string | null {
  let best: string | null = null;
  let bestDistance = reach * reach;
  for (const { key, px, py } of placed) {
    const distance = (px - at.px) ** 2 + (py - at.py) ** 2;
    if (distance <= bestDistance) {
      best = key;
      bestDistance = distance;
    }
  }
  return best;
}

/** Paths of many points at once, then of single ones of radius `r`. */
export const dots = (placed: readonly Pixel[]) => placed.map(({ px, py }) => `M${px.toFixed(1)} ${py.toFixed(1)}h0`).join("");
export const crosses = (placed: readonly Pixel[]) =>
  placed.map(({ px, py }) => `M${(px - 2).toFixed(1)} ${(py - 2).toFixed(1)}l4 4m-4 0l4 -4`).join("");
export const triangle = (px: number, py: number, r: number) => `M${px} ${py - r}L${px + r} ${py + r * 0.8}L${px - r} ${py + r * 0.8}Z`;
export const turnedTriangle = (px: number, py: number, r: number) =>
  `M${px} ${py + r}L${px + r} ${py - r * 0.8}L${px - r} ${py - r * 0.8}Z`;
export const square = (px: number, py: number, r: number) => `M${px - r} ${py - r}h${2 * r}v${2 * r}h${-2 * r}Z`;
export const diamond = (px: number, py: number, r: number) => `M${px} ${py - r}L${px + r} ${py}L${px} ${py + r}L${px - r} ${py}Z`;
