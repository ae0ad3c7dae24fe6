"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import Link from "next/link";
import { useRouter } from "next/navigation";
import { takeOutcome } from "../api/takeOutcome";
import { type Outputs, useTRPC, useTRPCClient } from "../api/trpc";
import { HistogramChart } from "../charts/HistogramChart";
import { prepareHistogram } from "../charts/prepareHistogram";
import { useClusterLink } from "../shell/useCurrentCluster";
import { Badge } from "../ui/Badge";
import { buttonClass } from "../ui/Button";
import { formatAge, formatCount, formatRate, formatScore } from "../ui/format";
import { ModelChip } from "../ui/ModelChip";
import { PageHeader } from "../ui/PageHeader";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { RemoveButton } from "../ui/RemoveButton";
import { useModelIdentities } from "../ui/useModelIdentities";
import { JudgeBadge } from "./JudgeBadge";

type Opened = Outputs["workloads"]["get"];

const tokens = (value: number) => formatCount(Math.round(value));

function Spread({ workload }: { readonly workload: Opened }) {
  const { summary, detail } = workload;
  const identities = useModelIdentities(summary.models.map((each) => each.model));
  return (
    <>
      <div className="grid gap-4 lg:grid-cols-2">
        <Panel title="Prompts" aside={<span>mean {tokens(summary.meanInputTokens)} tokens</span>}>
          <HistogramChart title="Input tokens" picture={prepareHistogram(detail.inputTokens, tokens)} hue="var(--accent)" />
          <p className="mt-3 text-xs text-ink-3">
            {detail.categories.map((category) => `${category.name} ${formatCount(category.prompts)}`).join(" · ")}
          </p>
        </Panel>
        <Panel title="Arrivals" aside={<span>{formatRate(summary.recordedRequestsPerSecond)} as recorded</span>}>
          <HistogramChart title="Arrivals over the recording" picture={prepareHistogram(detail.arrivals, formatAge)} hue="var(--accent)" />
          <p className="mt-3 text-xs text-ink-3">
            {summary.arrivalsFrom}. Planning and replay stretch them to the rate asked for; the pattern stays.
          </p>
        </Panel>
      </div>
      <Panel title="Models" aside={<JudgeBadge judge={summary.judge} />}>
        <div className="flex flex-col gap-6">
          {detail.models.map((model) => {
            const identity = identities.get(model.model);
            const each = summary.models.find((one) => one.model === model.model);
            const hue = identity?.hue ?? "var(--ink-2)";
            return (
              <section key={model.model} className="flex flex-col gap-2" aria-label={model.model}>
                <h3 className="flex flex-wrap items-center gap-x-3 text-sm font-medium">
                  {identity === undefined ? model.model : <ModelChip identity={identity} />}
                  <span className="text-xs font-normal text-ink-3">
                    {each?.tableName} in the table, quality alone {formatScore(each?.meanLabel)}
                  </span>
                </h3>
                <div className="grid gap-4 sm:grid-cols-3">
                  <HistogramChart title="Output tokens" picture={prepareHistogram(model.outputTokens, tokens)} hue={hue} />
                  <HistogramChart title="Label: the quality that counts" picture={prepareHistogram(model.label, formatScore)} hue={hue} />
                  <HistogramChart
                    title={summary.judge.kind === "modelled" ? "Judged score (modelled)" : "Judged score (measured)"}
                    picture={prepareHistogram(model.judged, formatScore)}
                    hue={hue}
                    hatched={summary.judge.kind === "modelled"}
                  />
                </div>
              </section>
            );
          })}
        </div>
      </Panel>
    </>
  );
}

function RemoveWorkload({ id, name }: { readonly id: string; readonly name: string }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const router = useRouter();
  const link = useClusterLink();
  const remove = useMutation({
    mutationFn: async () => takeOutcome(await client.workloads.remove.mutate({ id })),
    onSuccess: async () => {
      router.push(link("/workloads"));
      await queries.invalidateQueries(trpc.workloads.list.pathFilter());
    },
  });
  return (
    <RemoveButton
      name={name}
      kind="workload"
      consequences="Plans made on it stay; new ones can no longer be made, and its load can no longer be replayed."
      removal={remove}
    />
  );
}

/** One workload opened: how lengths, scores and arrivals are spread, and where they came from. */
export function WorkloadScreen({ id }: { readonly id: string }) {
  const trpc = useTRPC();
  const link = useClusterLink();
  const query = useQuery(trpc.workloads.get.queryOptions({ id }));
  const summary = query.data?.summary;
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title={summary?.name ?? "Workload"}>
        {summary?.generated && <Badge tone="hatched">generated</Badge>}
        {summary !== undefined && (
          <div className="ml-auto flex gap-2">
            <RemoveWorkload id={id} name={summary.name} />
            <Link href={link(`/plan?workload=${id}`)} className={buttonClass("primary")}>
              Plan with it
            </Link>
          </div>
        )}
      </PageHeader>
      <PanelState status={queryStatus(query, { what: "Reading the workload" })}>
        {() =>
          query.data !== undefined && (
            <>
              <p className="text-sm text-ink-2">
                Outcomes: {query.data.summary.outcomesFrom}. {formatCount(query.data.summary.prompts)} prompts, of which{" "}
                {formatCount(query.data.summary.planningPrompts)} are planned on and {formatCount(query.data.summary.heldOutPrompts)} held
                out for measuring.
              </p>
              <Spread workload={query.data} />
            </>
          )
        }
      </PanelState>
    </div>
  );
}
