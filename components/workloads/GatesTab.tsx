"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { WorkloadSummary } from "@/server/contracts/studio";
import { judgeSourceText } from "@/solver/judging/judgeTime";
import type { TournamentFigures } from "@/solver/tournament/tournamentFigures";
import { SHARE_BOUNDS } from "@/solver/tournament/tournamentLimits";
import { secondsText } from "@/solver/wording/wording";
import { isUnanswered } from "../api/isUnanswered";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { ClusterLink } from "../shell/ClusterLink";
import { useCurrentCluster } from "../shell/useCurrentCluster";
import { NumberField } from "../ui/Field";
import { formatPercent } from "../ui/format";
import { Panel } from "../ui/Panel";
import { PanelState, type PanelStatus } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { useDebounced } from "../ui/useDebounced";
import { useUrlView } from "../url/useUrlView";
import { gatesCodec } from "./gatesCodec";
import { JudgeBadge } from "./JudgeBadge";
import { LabelledGatesPanel } from "./LabelledGatesPanel";
import { hasColumns, modelledText, noGatesText, prepareGates } from "./prepareGates";
import { StageGates } from "./StageGates";

/** Waits for the end of typing: a comparison takes half a second and more. */
const TYPING_MS = 400;

const importLink = (
  <ClusterLink to="/workloads?bring=outcomes" className="font-medium text-accent underline underline-offset-2">
    Import outcomes
  </ClusterLink>
);

/** The time of a judge call on the current cluster, which no workload holds; null while it is unknown. */
function useJudgeTime() {
  const cluster = useCurrentCluster();
  const clusterId = cluster?.spec.id ?? "";
  const { data } = useQuery(useTRPC().clusters.judge.queryOptions({ clusterId }, { enabled: cluster !== null }));
  if (cluster === null || data == null) return null;
  const { secondsPerCall, source } = data.planned;
  return {
    secondsPerCall,
    text: `Time of a judge call on ${cluster.spec.name}: ${secondsText(secondsPerCall)}, ${judgeSourceText(source)}.`,
  };
}

function useGates(request: { readonly id: string; readonly share: number }, enabled: boolean) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  return useQuery({
    queryKey: trpc.workloads.gates.queryKey(request),
    queryFn: async ({ signal }) => unwrapOutcome(await client.workloads.gates.query(request, { signal })).tournament,
    ...{ enabled, staleTime: Number.POSITIVE_INFINITY, placeholderData: keepPreviousData },
    retry: (failures, error) => failures < 2 && isUnanswered(error),
  });
}

function Notes({ summary, tournament }: { readonly summary: WorkloadSummary; readonly tournament: TournamentFigures }) {
  const modelled = modelledText(summary.judge);
  return (
    <>
      {modelled !== null && <p>{modelled}</p>}
      {!hasColumns(tournament) && (
        <p>
          This workload has no scores of confidence or agreement, so the judge is compared with a scorer of lengths alone. A profile of its
          prompts measures both. {importLink} with the columns <code>confidence</code> and <code>agreement</code> if you have them.
        </p>
      )}
    </>
  );
}

/** Which gate separates right from wrong answers best, for each stage of a workload, on held-out prompts. */
export function GatesTab({ summary }: { readonly summary: WorkloadSummary }) {
  const [{ share, gate }, write] = useUrlView(gatesCodec);
  const refusal = noGatesText(summary);
  const query = useGates({ id: summary.id, share: useDebounced(share, TYPING_MS) }, refusal === null);
  const judgeTime = useJudgeTime();
  const judgeSeconds = judgeTime?.secondsPerCall ?? null;
  const tournament = query.data;
  const view = useMemo(
    () => (tournament === undefined ? null : prepareGates(tournament, { gate, judgeSeconds })),
    [tournament, gate, judgeSeconds],
  );
  const refused: PanelStatus | null =
    refusal === null ? null : { kind: "empty", title: "Gates cannot be compared", text: refusal, action: importLink };
  return (
    <>
      <Panel title="Gates compared" aside={<JudgeBadge workload={summary} />}>
        <PanelState status={refused ?? queryStatus(query, { what: "Comparing gates on held-out prompts" })}>
          {() =>
            view !== null &&
            tournament !== undefined && (
              <div className="grid gap-x-8 gap-y-3 lg:grid-cols-2">
                <div className="flex flex-col gap-3">
                  <NumberField
                    label="Share of answers sent on, for points over random"
                    unit="%"
                    value={Math.round(100 * share)}
                    min={100 * SHARE_BOUNDS.min}
                    max={100 * SHARE_BOUNDS.max}
                    step={5}
                    whole
                    onChange={(percent) => write({ share: percent / 100 }, "replace")}
                  />
                  <div role="status" aria-busy={query.isPlaceholderData} className="flex flex-col gap-1 text-sm text-ink-2">
                    <p>{view.heldOut}</p>
                    <Notes summary={summary} tournament={tournament} />
                  </div>
                </div>
                <p className="text-xs text-ink-3">
                  AUC: how often, of a right and a wrong answer, the right one scores higher. ECE: how far scores are from the quality of
                  answers with this score, in points. Risk-coverage area: mean loss of quality of the accepted answers over all thresholds;
                  lower is better. Over random: points of quality above sending as many answers on at random. The tokens of a judge are
                  those of prompt and answer; its instruction and reply come on top. {judgeTime?.text}
                </p>
              </div>
            )
          }
        </PanelState>
      </Panel>
      {view?.stages.map((stage) => (
        <StageGates
          key={stage.key}
          stage={stage}
          share={formatPercent(tournament?.share)}
          onChoose={(name) => write({ gate: name }, "replace")}
        />
      ))}
      <LabelledGatesPanel summary={summary} />
    </>
  );
}
