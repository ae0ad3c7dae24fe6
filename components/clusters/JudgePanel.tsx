"use client";

import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { EnterJudgeTime } from "../judges/EnterJudgeTime";
import { JudgeState } from "../judges/JudgeState";
import { driftWords, plannedWords, sourceWords, testWords, trafficWords } from "../judges/judgeWords";
import { StaleBadge } from "../judges/StaleBadge";
import { ErrorLine } from "../ui/ErrorLine";
import { Panel } from "../ui/Panel";
import { PermittedButton } from "../ui/PermittedButton";
import { useNow } from "../ui/useNow";
import { FindingList } from "./FindingList";

const REFRESH_MS = 2_000;

/** The judge of a cluster: the time that plans use and its source, its state, and how to measure or enter the time. */
export function JudgePanel({ clusterId }: { readonly clusterId: string }) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const queries = useQueryClient();
  const nowMs = useNow(1_000);
  const { data: known } = useQuery(trpc.clusters.judge.queryOptions({ clusterId }, { refetchInterval: REFRESH_MS }));
  const refresh = () => queries.invalidateQueries(trpc.clusters.judge.pathFilter());
  const measure = useMutation({
    mutationFn: async () => unwrapOutcome(await client.clusters.measureJudge.mutate({ clusterId })),
    onSettled: refresh,
  });
  if (known == null || nowMs === null) return null;
  const { judge } = known;
  if (judge === null)
    return (
      <Panel title="Judge">
        <p className="text-sm text-ink-3">
          This cluster has no judge, so only plans of a single model can be applied. Name a judge in the connection below.
        </p>
      </Panel>
    );
  const busy = measure.isPending || known.testing;
  return (
    <Panel title="Judge" aside={judge.url === null ? judge.model : `${judge.model} at ${judge.url}`}>
      <div className="flex flex-col gap-3 text-sm">
        <dl className="grid grid-cols-[max-content_minmax(0,1fr)] gap-x-4 gap-y-1.5">
          <Fact name="Plans take">
            <span data-testid="judge-planned">{plannedWords(known.planned)}</span>,{" "}
            <span className="text-ink-2">{sourceWords(known.planned.source, nowMs)}</span> <StaleBadge known={known} />
          </Fact>
          <Fact name="Test">{known.test === null ? "It was never tested." : testWords(known.test, nowMs)}</Fact>
          <Fact name="Traffic">
            {known.traffic === null ? "There are too few judge calls to tell." : trafficWords(known.traffic, nowMs)}
          </Fact>
          <Fact name="State">
            {known.health === null ? (
              "The gateway reports nothing: it has no judge or does not answer."
            ) : (
              <JudgeState health={known.health} nowMs={nowMs} />
            )}
          </Fact>
        </dl>
        {driftWords(known) !== null && <p className="text-warn">{driftWords(known)}</p>}
        {known.test?.findings.some(({ level }) => level !== "ok") && (
          <FindingList findings={known.test.findings} label="What the test of the judge found" onAllowed={() => measure.mutate()} />
        )}
        <div className="flex flex-wrap items-end gap-3">
          <PermittedButton permission="operate" disabled={busy} title="The test makes about 15 calls" onClick={() => measure.mutate()}>
            {busy ? "Measuring …" : known.test === null ? "Measure" : "Measure again"}
          </PermittedButton>
          <EnterJudgeTime
            entered={known.entered?.secondsPerCall ?? null}
            begin={known.planned.secondsPerCall}
            onEnter={async (secondsPerCall) => {
              unwrapOutcome(await client.clusters.enterJudgeTime.mutate({ clusterId, secondsPerCall }));
              await refresh();
            }}
          />
        </div>
        <ErrorLine error={measure.error} />
      </div>
    </Panel>
  );
}

const Fact = ({ name, children }: { readonly name: string; readonly children: ReactNode }) => (
  <>
    <dt className="text-ink-3">{name}</dt>
    <dd className="min-w-0 [overflow-wrap:anywhere]">{children}</dd>
  </>
);
