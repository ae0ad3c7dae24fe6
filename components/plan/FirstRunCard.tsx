"use client";

import type { ClusterSummary } from "@/server/contracts/studio";
import { gpuCount, gpuTypes } from "@/solver/plan/clusterGpus";
import type { Plan } from "@/solver/plan/plan";
import { ClusterLink } from "../shell/ClusterLink";
import { Badge } from "../ui/Badge";
import { buttonClass } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { PermittedButton } from "../ui/PermittedButton";
import { useReview } from "./result/useReview";

/** Shown until a plan runs: what is real here, what is emulated, and the next steps. `plan`: the current exact plan, once there is one. */
export function FirstRunCard({ cluster, plan }: { readonly cluster: ClusterSummary; readonly plan: Plan | null }) {
  const review = useReview();
  return (
    <section aria-label="First steps" className="flex flex-wrap items-center gap-x-6 gap-y-3 rounded-lg border bg-panel px-4 py-3">
      <div className="max-w-3xl min-w-64 flex-1 text-sm text-ink-2">
        <p>
          <span className="font-medium text-ink">No plan runs on {cluster.spec.name} yet.</span> <Badge tone="hatched">emulated</Badge> Its{" "}
          {gpuCount(cluster.spec)} {gpuTypes(cluster.spec).join(" and ")} GPUs and their engines are emulated: real HTTP and real queues,{" "}
          {cluster.emulatedAsPlanned
            ? "step times exactly as the planner models them, so that measuring here tests the drivers only."
            : "step times from a model with deviations the planner does not see."}{" "}
          Planner, gateway, roll-out and measurements are the ones you would use on your own engines.
        </p>
        <p className="mt-1">Apply the plan recommended below; once it runs, load starts on Live.</p>
        <ErrorLine error={review.error} />
      </div>
      <div className="flex flex-wrap gap-2">
        <PermittedButton
          permission="prepare"
          look="primary"
          disabled={plan === null || review.isPending}
          onClick={() => plan !== null && review.mutate(plan.id)}
        >
          Review the recommended plan
        </PermittedButton>
        <ClusterLink to="/clusters?attach=endpoints" className={buttonClass("plain")}>
          Attach my engines
        </ClusterLink>
        <ClusterLink to="/workloads/prompts?upload=1" className={buttonClass("plain")}>
          Import my prompts
        </ClusterLink>
      </div>
    </section>
  );
}
