import type { Sample } from "@/server/contracts/studio";

/**
 * SVG path of values 0..1 in a box of `width` x `height`. A gap interrupts the line; a lone value between gaps becomes a short
 * dash, so that it is visible.
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

const box = { width: 72, height: 16 } as const;

/** Recent values of a share, 0..1, without axes; the number is next to it. */
export function Sparkline({ values, hue }: { readonly values: readonly Sample[]; readonly hue: string }) {
  return (
    <svg aria-hidden="true" viewBox={`0 -1 ${box.width} ${box.height + 2}`} className="h-[18px] w-[72px]">
      <path d={`M0 ${box.height}H${box.width}`} stroke="var(--line)" />
      <path d={prepareSparkline(values, box)} fill="none" stroke={hue} strokeWidth="1.25" />
    </svg>
  );
}
