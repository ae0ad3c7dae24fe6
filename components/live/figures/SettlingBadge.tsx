import { StateWord } from "@/components/ui/Badge";
import { formatCount } from "@/components/ui/format";
import type { Settling } from "./settling";

/** Marks figures that are biased to quick answers, with the number of requests still in flight. */
export function SettlingBadge({ settling }: { readonly settling: Settling }) {
  return (
    <StateWord
      tone="neutral"
      title="Quick answers finish first: until the first slow ones have finished, latency, quality and shares are biased towards quick answers."
    >
      settling{settling.inFlight !== null && `, ${formatCount(settling.inFlight)} in flight`}
    </StateWord>
  );
}
