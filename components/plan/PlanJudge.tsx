"use client";

import { useQuery } from "@tanstack/react-query";
import { JUDGE_SECONDS_BOUNDS } from "@/solver/judging/judgeTime";
import { useTRPC } from "../api/trpc";
import { driftWords, plannedWords, sourceWords } from "../judges/judgeWords";
import { StaleBadge } from "../judges/StaleBadge";
import { Button } from "../ui/Button";
import { formatSeconds } from "../ui/format";
import { NumberInput } from "../ui/NumberInput";
import { useNow } from "../ui/useNow";

const REFRESH_MS = 10_000;

/** The judge outside of the plan, the time of its calls that predictions use and its source; it can be set for this page. */
export function PlanJudge(props: {
  readonly clusterId: string;
  /** Seconds that were set here; null: the cluster's known value. */
  readonly entered: number | null;
  readonly onEnter: (seconds: number | null) => void;
}) {
  const { clusterId, entered, onEnter } = props;
  const nowMs = useNow(10_000);
  const { data: known } = useQuery(useTRPC().clusters.judge.queryOptions({ clusterId }, { refetchInterval: REFRESH_MS }));
  if (known == null || nowMs === null) return null;
  const { judge, planned } = known;
  return (
    <div className="flex flex-wrap items-center gap-x-3 gap-y-1 px-1 text-sm text-ink-2">
      <span className="min-w-0 [overflow-wrap:anywhere]">
        Judge: <span className="font-medium text-ink">{judge?.model ?? "none attached"}</span>
        {", "}
        <span data-testid="judge-time">
          {entered === null
            ? `${plannedWords(planned)}, ${sourceWords(planned.source, nowMs)}`
            : `${formatSeconds(entered)} a call, set here; ${formatSeconds(planned.secondsPerCall)} ${sourceWords(planned.source, nowMs)}`}
        </span>
      </span>
      {entered === null && <StaleBadge known={known} />}
      {driftWords(known) !== null && <span className="text-warn">{driftWords(known)}</span>}
      {entered === null ? (
        <Button look="quiet" onClick={() => onEnter(Number(planned.secondsPerCall.toPrecision(2)))}>
          Set the judge's time
        </Button>
      ) : (
        <>
          <NumberInput label="Seconds of a judge call" {...JUDGE_SECONDS_BOUNDS} step={0.001} value={entered} onChange={onEnter} />
          <span className="text-xs text-ink-3">s</span>
          <Button look="quiet" onClick={() => onEnter(null)}>
            Use the cluster's time
          </Button>
        </>
      )}
    </div>
  );
}
