import type { Sample } from "@/server/contracts/studio";
import { prepareSparkline } from "./prepareSparkline";

const box = { width: 72, height: 16 } as const;

/** Recent values of a share, 0..1, without axes; the number stands beside it. */
export function Sparkline({ values, hue }: { readonly values: readonly Sample[]; readonly hue: string }) {
  return (
    <svg aria-hidden="true" viewBox={`0 -1 ${box.width} ${box.height + 2}`} className="h-[18px] w-[72px]">
      <path d={`M0 ${box.height}H${box.width}`} stroke="var(--line)" />
      <path d={prepareSparkline(values, box)} fill="none" stroke={hue} strokeWidth="1.25" />
    </svg>
  );
}
