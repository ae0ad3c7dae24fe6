"use client";

import { keepPreviousData, useQuery } from "@tanstack/react-query";
import type { AuditPage } from "@/server/contracts/studio";
import { useTRPC } from "../api/trpc";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { DownloadButton } from "../ui/DownloadButton";
import { PageHeader } from "../ui/PageHeader";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { useDebounced } from "../ui/useDebounced";
import { useUrlView } from "../url/useUrlView";
import { AuditFilterBar } from "./AuditFilterBar";
import { AuditLines } from "./AuditLines";
import { type AuditView, auditCodec } from "./auditCodec";
import { countSentence, exportAddress, filterOf, headFact, isFiltered } from "./prepareAudit";

const LINES = 50;
/** The gateways add lines on their own. */
const REFRESH_MS = 10_000;
const TYPING_MS = 300;

/** Whether each key of a typed value is a change: Back must not step through them. */
const isTyped = (change: Partial<AuditView>): boolean =>
  Object.keys(change).length === 1 && ["object", "from", "to"].some((name) => name in change);

/** Audit: who did or tried what and when, filtered, page by page, exported, with the end of its chain. */
export function AuditScreen() {
  const trpc = useTRPC();
  const [view, setView] = useUrlView(auditCodec);
  const asked = useDebounced(view, TYPING_MS);
  const overview = useQuery(trpc.audit.overview.queryOptions(undefined, { refetchInterval: REFRESH_MS }));
  const query = useQuery(
    trpc.audit.page.queryOptions(
      { filter: filterOf(asked), cursor: asked.after, limit: LINES },
      { refetchInterval: REFRESH_MS, placeholderData: keepPreviousData, retry: false },
    ),
  );
  const status = queryStatus(query, {
    what: "Reading the audit",
    empty: query.data?.lines.length === 0 && {
      kind: "empty",
      title: isFiltered(asked) ? "No line fits the filter" : "No line here",
      text: isFiltered(asked) ? "Clear a part of the filter, or choose more days." : "Every act and every refused attempt becomes a line.",
    },
  });
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title="Audit" />
      {overview.data?.headProblem != null && (
        <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-sm text-bad">
          {overview.data.headProblem} Run <code>weir audit verify</code> on the studio's machine.
        </p>
      )}
      <Panel
        title="Lines"
        aside={
          <>
            {overview.data !== undefined && (
              <>
                <span title={overview.data.headHash}>{headFact(overview.data)}</span>
                <CopyButton text={overview.data.headHash} label="Copy head hash" />
              </>
            )}
            <DownloadButton path={exportAddress(view, "jsonl")} title="Can be verified: weir audit verify --file">
              Export JSON lines
            </DownloadButton>
            <DownloadButton path={exportAddress(view, "csv")}>Export CSV</DownloadButton>
          </>
        }
      >
        <div className="flex flex-col gap-4">
          <AuditFilterBar
            view={view}
            overview={overview.data}
            onChange={(change) => setView({ ...change, after: null }, isTyped(change) ? "replace" : "push")}
          />
          <p role="status" className="text-sm text-ink-2">
            {query.data !== undefined && countSentence(query.data.total, asked)}
          </p>
          <PanelState status={status}>
            {() => query.data !== undefined && <AuditLines lines={query.data.lines} isOld={query.isPlaceholderData} />}
          </PanelState>
          <AuditPages view={view} next={query.data?.next ?? null} onView={(after) => setView({ after }, "push")} />
        </div>
      </Panel>
    </div>
  );
}

function AuditPages({
  view,
  next,
  onView,
}: {
  readonly view: AuditView;
  readonly next: AuditPage["next"];
  readonly onView: (after: string | null) => void;
}) {
  if (view.after === null && next === null) return null;
  return (
    <nav aria-label="Pages of the audit" className="flex gap-2">
      <Button disabled={view.after === null} onClick={() => onView(null)}>
        Newest
      </Button>
      <Button disabled={next === null} onClick={() => onView(next)}>
        Older
      </Button>
    </nav>
  );
}
