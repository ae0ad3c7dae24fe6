import { formatAge } from "@/components/ui/format";
import type { LiveFrame } from "@/server/contracts/studio";

/** A note that figures of requests are not current; null while the gateway answers. */
export function prepareSilence({ gateway }: Pick<LiveFrame, "gateway">): string | null {
  if (gateway.state === "fresh") return null;
  return gateway.ageSeconds > 0
    ? `gateway last reported ${formatAge(Math.max(2, gateway.ageSeconds))} ago`
    : "gateway has not reported yet";
}
