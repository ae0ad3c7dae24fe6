import type { Sample } from "@/server/contracts/studio";

/**
 * SVG path of values 0..1 in a box of `width` x `height`. A gap lifts the pen; a lone value between gaps becomes a short
 * dash, so that it is seen.
 */
export function prepareSparkline(values: readonly Sample[], box: { readonly width: number; readonly height: number }): string {
  const step = values.length > 1 ? box.width / (values.length - 1) : 0;
  let path = "";
  for (const [index, value] of values.entries()) {
    if (value === null) continue;
    const x = (index * step).toFixed(1);
    const y = ((1 - Math.min(1, Math.max(0, value))) * box.height).toFixed(1);
    const penDown = index > 0 && values[index - 1] !== null;
    path += penDown ? `L${x} ${y}` : `M${x} ${y}h0.5`;
  }
  return path;
}
