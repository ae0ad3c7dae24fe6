"use client";

import Link from "next/link";
import type { ClusterSummary } from "@/server/contracts/studio";
import { useClusterLink } from "../shell/useCurrentCluster";
import { Badge } from "../ui/Badge";
import { buttonClass } from "../ui/Button";

/** Shown until a plan runs: what is real here, what is emulated, and three ways on. */
export function FirstRunCard({ cluster }: { readonly cluster: ClusterSummary }) {
  const link = useClusterLink();
  const gpus = cluster.spec.nodes.reduce((sum, node) => sum + node.gpus, 0);
  return (
    <section aria-label="First steps" className="flex flex-wrap items-center gap-x-6 gap-y-3 rounded-lg border bg-panel px-4 py-3">
      <div className="max-w-3xl min-w-64 flex-1 text-sm text-ink-2">
        <p>
          <span className="font-medium text-ink">No plan runs on {cluster.spec.name} yet.</span> <Badge tone="hatched">emulated</Badge> Its{" "}
          {gpus} {cluster.spec.gpu} GPUs and their engines are emulated: real HTTP and real queues,{" "}
          {cluster.emulatedAsPlanned
            ? "step times exactly as the planner models them, so that measuring here tests the drivers only."
            : "step times from a model with deviations the planner does not see."}{" "}
          Planner, gateway, roll-out and measurements are the ones you would use on your own engines.
        </p>
      </div>
      <div className="flex flex-wrap gap-2">
        <Link href={link("/live?load=open")} className={buttonClass("plain")}>
          Try the demo load
        </Link>
        <Link href={link("/clusters?attach=open")} className={buttonClass("plain")}>
          Attach my engines
        </Link>
        <Link href={link("/workloads?import=open")} className={buttonClass("plain")}>
          Import my prompts
        </Link>
      </div>
    </section>
  );
}
