"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { type Outputs, useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { ByHour } from "../arrivals/PreviewPanel";
import { HistogramChart } from "../charts/HistogramChart";
import { prepareHistogram } from "../charts/prepareHistogram";
import { ClusterLink } from "../shell/ClusterLink";
import { useClusterLink } from "../shell/useCurrentCluster";
import { Badge } from "../ui/Badge";
import { Button, buttonClass } from "../ui/Button";
import { DownloadButton } from "../ui/DownloadButton";
import { formatAge, formatCount, formatRate, formatScore } from "../ui/format";
import { ModelName } from "../ui/ModelChip";
import { PageHeader } from "../ui/PageHeader";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { RemoveButton } from "../ui/RemoveButton";
import { Tabs } from "../ui/Tabs";
import { useModelIdentities } from "../ui/useModelIdentities";
import { codecOf, flag, named, withDefault, word } from "../url/addressFields";
import { useUrlView } from "../url/useUrlView";
import { AgreementPanel } from "./AgreementPanel";
import { ArrivalsDialog } from "./ArrivalsDialog";
import { CategoryPanel } from "./CategoryPanel";
import { GatesTab } from "./GatesTab";
import { JudgeBadge } from "./JudgeBadge";
import { JudgePanel } from "./JudgePanel";
import { LineagePanel } from "./LineagePanel";
import { OriginBadges } from "./OriginBadges";
import { judgedText, versionText } from "./prepareWorkloads";
import { QualityPanel } from "./QualityPanel";
import { WorkloadTabs } from "./WorkloadTabs";

type Opened = Outputs["workloads"]["get"];

const workloadTabs = ["content", "gates"] as const;
const tabNames = { content: "Content", gates: "Gates" } as const;

/** The tab, and whether the dialog is open, so that other pages can link to them. */
const workloadCodec = codecOf({
  open: named("rearrive", flag("open")),
  tab: withDefault(word(workloadTabs), "content"),
});

/** An age of zero is formatted as now, which does not suit the first arrival. */
const sinceFirst = (seconds: number): string => (seconds === 0 ? "0" : formatAge(seconds));

const tokens = (value: number) => formatCount(Math.round(value));

function Lengths({ workload, identities }: { readonly workload: Opened; readonly identities: ReturnType<typeof useModelIdentities> }) {
  const { summary, detail } = workload;
  const isUnreal = summary.judge.kind === "modelled" || summary.measured?.emulated === true;
  return (
    <Panel title="Lengths and scores of each model" aside={<JudgeBadge workload={summary} />}>
      <div className="flex flex-col gap-6">
        {detail.models.map((model) => {
          const hue = identities.get(model.model)?.hue ?? "var(--ink-2)";
          return (
            <section key={model.model} className="flex flex-col gap-2" aria-label={model.model}>
              <h3 className="text-sm font-medium">
                <ModelName model={model.model} identities={identities} />
              </h3>
              <div className="grid gap-4 sm:grid-cols-3">
                <HistogramChart title="Output tokens" of="answer" picture={prepareHistogram(model.outputTokens, tokens)} hue={hue} />
                <HistogramChart title="Label: quality" of="answer" picture={prepareHistogram(model.label, formatScore)} hue={hue} />
                <HistogramChart
                  title={`Judged score (${judgedText(summary)})`}
                  of="answer"
                  picture={prepareHistogram(model.judged, formatScore)}
                  hue={hue}
                  hatched={isUnreal}
                />
              </div>
            </section>
          );
        })}
      </div>
    </Panel>
  );
}

function ArrivalsPanel({ summary, detail }: Opened) {
  return (
    <Panel title="Arrivals" aside={<span>{formatRate(summary.recordedRequestsPerSecond)} as recorded</span>}>
      <div className="flex flex-col gap-4">
        <HistogramChart
          title="Over the recording"
          of="arrival"
          picture={prepareHistogram(detail.arrivals, sinceFirst)}
          hue="var(--accent)"
        />
        {detail.byHour !== null && <ByHour rates={detail.byHour} />}
      </div>
      <p className="mt-3 text-xs text-ink-3">
        {summary.arrivalsFrom}. Planning and replay stretch them to the rate asked for; the pattern stays.
        {detail.byHour === null && " The hours of the day are unknown."}
      </p>
    </Panel>
  );
}

function Content({ workload }: { readonly workload: Opened }) {
  const { summary, detail } = workload;
  const identities = useModelIdentities(summary.models.map((each) => each.model));
  return (
    <>
      <div className="grid gap-4 lg:grid-cols-2">
        <QualityPanel summary={summary} detail={detail} identities={identities} />
        <AgreementPanel detail={detail} identities={identities} />
        <JudgePanel summary={summary} detail={detail} identities={identities} />
        <LineagePanel summary={summary} />
        <Panel title="Prompts" aside={<span>mean {tokens(summary.meanInputTokens)} tokens</span>}>
          <HistogramChart title="Input tokens" of="prompt" picture={prepareHistogram(detail.inputTokens, tokens)} hue="var(--accent)" />
          <p className="mt-3 text-xs text-ink-3">
            {formatCount(summary.prompts)} prompts, of which {formatCount(summary.planningPrompts)} are planned on and{" "}
            {formatCount(summary.heldOutPrompts)} held out for measuring.
          </p>
        </Panel>
        <ArrivalsPanel {...workload} />
      </div>
      <CategoryPanel detail={detail} />
      <Lengths workload={workload} identities={identities} />
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
    mutationFn: async () => unwrapOutcome(await client.workloads.remove.mutate({ id })),
    onSuccess: async () => {
      router.push(link("/workloads"));
      await queries.invalidateQueries(trpc.workloads.list.pathFilter());
    },
  });
  return (
    <RemoveButton
      name={name}
      kind="workload"
      consequences="Its plans stay; no new plan can use it, and its load can no longer be replayed."
      removal={remove}
    />
  );
}

/** One workload: its content, the precision of its figures, its origin and the plans made from it. */
export function WorkloadScreen({ id }: { readonly id: string }) {
  const trpc = useTRPC();
  const [{ open, tab }, write] = useUrlView(workloadCodec);
  const query = useQuery(trpc.workloads.get.queryOptions({ id }));
  const summary = query.data?.summary;
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title={summary?.name ?? "Workload"}>
        {summary !== undefined && <Badge>{versionText(summary)}</Badge>}
        {summary !== undefined && <OriginBadges workload={summary} />}
        {summary !== undefined && (
          <div className="ml-auto flex flex-wrap gap-2">
            <RemoveWorkload id={id} name={summary.name} />
            <DownloadButton path={`/api/workloads/${id}`} title="As JSONL: a line a prompt, without its text">
              Export
            </DownloadButton>
            <Button onClick={() => write({ open: true }, "push")}>Other arrivals</Button>
            <ClusterLink to={`/plan?workload=${id}`} className={buttonClass("primary")}>
              Plan with it
            </ClusterLink>
          </div>
        )}
      </PageHeader>
      {query.error !== null && <WorkloadTabs />}
      {summary !== undefined && (
        <Tabs label="Workload" names={tabNames} tabs={workloadTabs} tab={tab} onTab={(next) => write({ tab: next }, "push")} />
      )}
      <PanelState status={queryStatus(query, { what: "Reading the workload" })}>
        {() =>
          query.data !== undefined &&
          (tab === "gates" ? <GatesTab key={id} summary={query.data.summary} /> : <Content workload={query.data} />)
        }
      </PanelState>
      {open && summary !== undefined && <ArrivalsDialog summary={summary} onClose={() => write({ open: false }, "replace")} />}
    </div>
  );
}
