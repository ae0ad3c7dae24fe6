"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Capture } from "@/server/contracts/studio";
import { useGatewayAct } from "../api/acts";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { StateWord } from "../ui/Badge";
import { ErrorLine } from "../ui/ErrorLine";
import { Figure } from "../ui/Figure";
import { formatCount, formatPercent } from "../ui/format";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { PermittedButton } from "../ui/PermittedButton";
import { queryStatus } from "../ui/queryStatus";
import { useFocusHandover } from "../ui/useFocusHandover";
import { CaptureForm } from "./CaptureForm";
import { EraseCapture } from "./EraseCapture";
import { EraseOf } from "./EraseOf";
import { captured, dropped, formatBytes, redacted, staying } from "./prepareCapture";

/** The captured data changes as requests arrive. */
const REFRESH_MS = 5_000;

/** The prompts captured from a cluster's live traffic for samples, and the actions to begin, end and erase a capture. */
export function CapturePanel({ clusterId }: { readonly clusterId: string }) {
  const trpc = useTRPC();
  const query = useQuery(
    trpc.gateway.capture.queryOptions({ clusterId }, { staleTime: 0, refetchInterval: REFRESH_MS, retry: false, select: unwrapOutcome }),
  );
  return (
    <Panel title="Capture of live traffic">
      <div data-testid="capture" className="flex flex-col gap-4">
        <p className="text-sm text-ink-2">
          Off until you start it, and limited to the API keys you name. It stores the prompts of answered chat requests (messages, tools and
          settings), never an answer. The redaction rules apply before anything is written. The files are on the gateway's machine, and only
          the gateway's user may read them. Only admins of this studio can take samples of them.
        </p>
        <p className="text-sm text-ink-2">
          The rules match patterns, not meaning. They do not find names of people, postal addresses, dates of birth, numbers of passports,
          patients and customers, phone numbers without a + and without separators, passwords in a sentence, keys of unknown form, or
          anything spelled out or encoded. Treat the stored prompts as personal data, and add rules for what your users write.
        </p>
        <PanelState status={queryStatus(query, { what: "Asking the gateway" })}>
          {() => query.data !== undefined && <CaptureState clusterId={clusterId} capture={query.data.capture} onChange={query.refetch} />}
        </PanelState>
      </div>
    </Panel>
  );
}

function CaptureState({
  clusterId,
  capture,
  onChange,
}: {
  readonly clusterId: string;
  readonly capture: Capture;
  readonly onChange: () => unknown;
}) {
  const client = useTRPCClient();
  const [open, setOpen] = useState(false);
  const button = useFocusHandover<HTMLButtonElement>(!open);
  const { running, files } = capture;
  const end = useGatewayAct(() => client.gateway.endCapture.mutate({ clusterId, reason: "" }), onChange);
  return (
    <>
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2 text-sm">
        {running === null ? (
          <span className="text-ink-2">Nothing is captured.</span>
        ) : (
          <>
            <StateWord tone="accent">capturing</StateWord>
            <span>
              {formatPercent(running.share)} of chat requests of {captured(running)}, by {running.by}
            </span>
          </>
        )}
        <span className="ml-auto flex flex-wrap justify-end gap-2">
          {running === null ? (
            <PermittedButton permission="capture" ref={button.target} aria-expanded={open} onClick={() => setOpen(!open)}>
              {open ? "Close" : "Capture prompts"}
            </PermittedButton>
          ) : (
            <PermittedButton permission="capture" ref={button.target} onClick={() => !end.isPending && end.mutate()}>
              End capture
            </PermittedButton>
          )}
          {(running !== null || files.bytes > 0) && <EraseCapture clusterId={clusterId} capture={capture} onDone={onChange} />}
          <EraseOf clusterId={clusterId} keyNames={capture.keyNames} onDone={onChange} />
        </span>
      </div>
      <ErrorLine error={end.error} />
      {(running !== null || files.bytes > 0) && (
        <dl className="flex flex-wrap gap-x-8 gap-y-3">
          <Figure name="Kept now" value={formatCount(files.prompts)} detail={`${formatBytes(files.bytes)}; ${staying(capture)}`} />
          <Figure
            name="Kept since it began"
            value={formatCount(capture.counts.kept)}
            detail={dropped(capture) === "" ? "none dropped" : `dropped: ${dropped(capture)}`}
          />
          <Figure
            name="Taken out"
            value={formatCount(Object.values(capture.counts.redacted).reduce((sum, count) => sum + count, 0))}
            detail={redacted(capture)}
          />
        </dl>
      )}
      {running === null && open && (
        <CaptureForm
          clusterId={clusterId}
          keyNames={capture.keyNames}
          onDone={() => {
            button.handOver();
            setOpen(false);
            onChange();
          }}
        />
      )}
    </>
  );
}
