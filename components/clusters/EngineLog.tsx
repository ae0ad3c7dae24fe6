"use client";

import { useQuery } from "@tanstack/react-query";
import { takeOutcome } from "../api/takeOutcome";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";
import { CopyButton } from "../ui/CopyButton";
import { Modal } from "../ui/Modal";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";

/** The end of an engine's log, as its host keeps it. */
export function EngineLog(props: { readonly clusterId: string; readonly engineId: string; readonly onClose: () => void }) {
  const { clusterId, engineId } = props;
  const trpc = useTRPC();
  const client = useTRPCClient();
  const query = useQuery({
    queryKey: [...trpc.clusters.engineLog.queryKey({ clusterId, engineId }), "text"],
    queryFn: async () => takeOutcome(await client.clusters.engineLog.query({ clusterId, engineId })),
    retry: false,
    staleTime: 0,
  });
  const text = query.data?.text ?? "";
  const status = queryStatus(query, {
    what: "Reading the log",
    empty: text === "" && { kind: "empty", title: "The log is empty", text: "The engine has written nothing yet." },
  });
  return (
    <Modal open onOpenChange={(open) => open || props.onClose()} title={`Log of ${engineId}`} description="Its end, with keys hidden.">
      <PanelState status={status}>
        {() => (
          <>
            <pre
              // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard.
              tabIndex={0}
              className="max-h-[55vh] overflow-auto rounded-md bg-sunken p-2 font-mono text-xs whitespace-pre-wrap [overflow-wrap:anywhere]"
            >
              {text}
            </pre>
            <div className="flex flex-wrap items-center gap-2 text-xs">
              <Button onClick={() => void query.refetch()}>Read again</Button>
              <CopyButton text={text} label="Copy" />
            </div>
          </>
        )}
      </PanelState>
    </Modal>
  );
}
