"use client";

import { useQueryClient } from "@tanstack/react-query";
import { useTRPC, useTRPCClient } from "@/components/api/trpc";
import { ClusterLink } from "@/components/shell/ClusterLink";
import { StateWord } from "@/components/ui/Badge";
import { Figure } from "@/components/ui/Figure";
import { Panel } from "@/components/ui/Panel";
import { ReasonDialog } from "@/components/ui/ReasonDialog";
import { useNow } from "@/components/ui/useNow";
import { type Learnt, prepareSummary } from "./prepareSummary";

/** How much was learnt, whether the policy in force uses it, and the button that deletes it. */
export function SummaryPanel({ clusterId, learnt }: { readonly clusterId: string; readonly learnt: Learnt }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const { figures, use, used, clock, doubts } = prepareSummary(learnt, useNow(5_000));
  return (
    <Panel
      title="Learnt from calls"
      aside={
        <ReasonDialog
          button="Forget"
          title="Delete everything learnt?"
          description="Call graphs, latencies and agent distances are deleted permanently. The gateway starts again with the next call; until it has learnt, orders that use them fall back to first come, first served."
          keep="Keep it"
          go="Forget it"
          look="danger"
          act={async (reason) => {
            const outcome = await client.workflows.forget.mutate({ clusterId, reason });
            await queries.invalidateQueries(trpc.workflows.pathFilter());
            return outcome;
          }}
        />
      }
    >
      <dl className="flex flex-wrap gap-x-8 gap-y-3" data-testid="workflows-figures">
        {figures.map((figure) => (
          <Figure key={figure.name} {...figure} />
        ))}
      </dl>
      <div className="mt-3 flex flex-col gap-1 text-sm text-ink-2">
        <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
          <StateWord tone={used ? "accent" : "neutral"}>{used ? "in use" : "only observed"}</StateWord>
          <span>{use}</span>
          {!used && <ClusterLink to="/live">Choose another order on Live</ClusterLink>}
        </p>
        {clock !== null && <p className="text-xs text-ink-3">{clock}</p>}
        {doubts !== null && <p className="text-xs text-ink-3">{doubts}</p>}
      </div>
    </Panel>
  );
}
