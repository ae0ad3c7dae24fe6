import { StateWord } from "../ui/Badge";
import { formatCount } from "../ui/format";
import type { Settling } from "./settling";

/** Marks figures that lean to quick answers, with the number of requests that are still under way. */
export function SettlingWord({ settling }: { readonly settling: Settling }) {
  return (
    <StateWord
      tone="neutral"
      title="Quick answers come first: until the slow ones of the beginning are back, latency, quality and shares lean to the quick."
    >
      settling{settling.inFlight !== null && `, ${formatCount(settling.inFlight)} in flight`}
    </StateWord>
  );
}
