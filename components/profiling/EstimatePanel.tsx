"use client";

import { keepPreviousData, useMutation, useQuery } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import type { ProfileRequest, PromptSet } from "@/server/contracts/studio";
import { useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { useAllowed } from "../api/useMe";
import { useClusterLink } from "../shell/useCurrentCluster";
import { ErrorLine } from "../ui/ErrorLine";
import { Figure } from "../ui/Figure";
import { formatAge, formatCount, formatUsd } from "../ui/format";
import { NoteList } from "../ui/Notes";
import { Panel } from "../ui/Panel";
import { PermittedButton } from "../ui/PermittedButton";
import { useDebounced } from "../ui/useDebounced";
import { startSentence } from "./prepareRequest";

/** Delay after the last change before a form is estimated. */
const STILL_MS = 500;

/** Engines appear and disappear while a form is open. */
const REFRESH_MS = 15_000;

/** The estimate of a profile; during a new estimate that of the earlier request, labelled as such. `request`: memoised. */
function useEstimate(request: ProfileRequest | null) {
  const client = useTRPCClient();
  const mayAsk = useAllowed("prepare");
  const still = useDebounced(request, STILL_MS);
  const query = useQuery({
    queryKey: ["profile estimate", still],
    queryFn: async ({ signal }) => {
      if (still === null) throw new Error("Nothing is asked.");
      return unwrapOutcome(await client.profiles.estimate.mutate(still, { signal })).estimate;
    },
    enabled: still !== null && mayAsk,
    placeholderData: keepPreviousData,
    refetchInterval: REFRESH_MS,
  });
  return { query, mayAsk, current: still === request && !query.isPlaceholderData && query.data !== undefined };
}

/** The estimate, its basis, the obstacles, and the button that starts the profile. */
export function EstimatePanel(props: {
  readonly set: PromptSet;
  /** Memoised; null: a field is still missing. */
  readonly request: ProfileRequest | null;
  readonly blocked: string | null;
  readonly onStarted: () => void;
}) {
  const { set, request, blocked, onStarted } = props;
  const client = useTRPCClient();
  const router = useRouter();
  const link = useClusterLink();
  const { query, mayAsk, current } = useEstimate(request);
  const estimate = query.data;
  const start = useMutation({
    mutationFn: async (asked: ProfileRequest) => unwrapOutcome(await client.profiles.start.mutate(asked)),
    onSuccess: ({ id }) => {
      onStarted();
      router.push(link(`/workloads/profiles/${id}`));
    },
  });
  const problems = current ? (estimate?.problems ?? []) : [];
  const overCap = request?.capUsd != null && estimate !== undefined && estimate.usd > request.capUsd;
  const ready = request !== null && current && problems.length === 0 && !start.isPending;
  return (
    <Panel
      title="5. Estimated cost and time"
      aside={mayAsk && request !== null && !current && query.error === null && <span role="status">Estimating …</span>}
    >
      <div className="flex flex-col gap-3">
        {blocked !== null && <p className="text-sm text-ink-2">{blocked}</p>}
        {estimate !== undefined && request !== null && (
          <>
            <dl className="flex flex-wrap gap-x-8 gap-y-3" data-testid="estimate">
              <Figure name="Calls" value={formatCount(estimate.calls)} estimate={!current} />
              <Figure
                name="Tokens"
                value={formatCount(estimate.inputTokens + estimate.outputTokens)}
                detail={`${formatCount(estimate.outputTokens)} written`}
                estimate={!current}
              />
              <Figure name="Time" value={`about ${formatAge(Math.max(2, estimate.seconds))}`} estimate={!current} />
              <Figure
                name="Cost"
                value={formatUsd(estimate.usd)}
                detail={request.capUsd === null ? "no cap" : `capped at ${formatUsd(request.capUsd)}`}
                estimate={!current}
              />
            </dl>
            {overCap && (
              <p className="text-sm text-warn">
                By this estimate it pauses at its cap, after about {formatCount(Math.floor((100 * (request.capUsd ?? 0)) / estimate.usd))} %
                of it. The cap can be raised then.
              </p>
            )}
            {estimate.basis.length > 0 && (
              <details>
                <summary className="text-xs text-ink-3">Assumptions</summary>
                <NoteList items={estimate.basis} className="mt-1 list-disc pl-5 text-xs text-ink-2" />
              </details>
            )}
          </>
        )}
        {problems.length > 0 && (
          <ul role="alert" aria-label="Problems" className="list-disc pl-5 text-sm text-bad">
            {problems.map((problem) => (
              <li key={problem} className="[overflow-wrap:anywhere]">
                {problem}
              </li>
            ))}
          </ul>
        )}
        <ErrorLine error={request === null ? null : query.error} />
        <ErrorLine error={start.error} />
        <div className="flex flex-wrap items-center justify-end gap-3">
          <p className="max-w-prose min-w-0 flex-1 basis-60 text-sm text-ink-2">
            {request !== null && startSentence(request, set.prompts)}
          </p>
          <PermittedButton permission="prepare" look="primary" disabled={!ready} onClick={() => request !== null && start.mutate(request)}>
            {start.isPending ? "Starting …" : "Start profile"}
          </PermittedButton>
        </div>
      </div>
    </Panel>
  );
}
