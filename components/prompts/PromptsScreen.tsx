"use client";

import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useAct } from "../api/acts";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { Button } from "../ui/Button";
import { ErrorLine } from "../ui/ErrorLine";
import { PageHeader } from "../ui/PageHeader";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { PermittedButton } from "../ui/PermittedButton";
import { queryStatus } from "../ui/queryStatus";
import { useSessionState } from "../ui/useSessionState";
import type { UrlCodec } from "../url/useUrlView";
import { useUrlView } from "../url/useUrlView";
import { WorkloadTabs } from "../workloads/WorkloadTabs";
import { GatewayPrompts } from "./GatewayPrompts";
import { PromptFile } from "./PromptFile";
import { SampleForm } from "./SampleForm";
import { SampleList } from "./SampleList";
import { SurveyFacts } from "./SurveyFacts";
import type { PromptUpload } from "./uploadPrompts";

/** The view of the Prompts page. */
interface PromptsView {
  /** The source of a new sample; null: no sample is being taken. */
  readonly from: "file" | "gateway" | null;
}

export const promptsCodec: UrlCodec<PromptsView> = {
  parse: (params) => ({
    from: params.get("upload") === null ? (params.get("take") === "gateway" ? "gateway" : null) : "file",
  }),
  format: ({ from }) => ({ upload: from === "file" ? "1" : undefined, take: from === "gateway" ? "gateway" : undefined }),
};

/** Samples are few and change by hand, or when their retention ends. */
const REFRESH_MS = 60_000;

/** Prompts: the existing samples, and how to take another. */
export function PromptsScreen() {
  const client = useTRPCClient();
  const query = useQuery(useTRPC().prompts.list.queryOptions(undefined, { refetchInterval: REFRESH_MS }));
  const [{ from }, write] = useUrlView(promptsCodec);
  // A file's survey cannot be requested again by its address, and the file itself is kept for a day.
  const [upload, setUpload] = useSessionState<PromptUpload>("weir.prompts.upload");
  const [fresh, setFresh] = useState<string | null>(null);
  const leave = (): void => {
    setUpload(null);
    write({ from: null }, "push");
  };
  const archive = useAct(({ uploadId }: PromptUpload) => client.prompts.archive.mutate({ uploadId }), leave);
  const names = (query.data ?? []).flatMap(({ name, deleted }) => (deleted ? [] : name));
  const status = queryStatus(query, {
    what: "Reading samples",
    empty: query.data?.length === 0 && {
      kind: "empty",
      title: "No sample yet",
      text: "Upload prompts of your own, or take them from a gateway. Models answer a sample of them, judges score the answers, and the result is a workload to plan with.",
      action: from === null && (
        <PermittedButton permission="prepare" look="primary" onClick={() => write({ from: "file" }, "push")}>
          Upload prompts
        </PermittedButton>
      ),
    },
  });
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title="Prompts">
        <div className="ml-auto flex flex-wrap gap-2">
          <PermittedButton permission="capture" aria-pressed={from === "gateway"} onClick={() => write({ from: "gateway" }, "push")}>
            Take from a gateway
          </PermittedButton>
          <PermittedButton
            permission="prepare"
            look="primary"
            aria-pressed={from === "file"}
            onClick={() => write({ from: "file" }, "push")}
          >
            Upload prompts
          </PermittedButton>
        </div>
      </PageHeader>
      <WorkloadTabs />
      {(from !== null || upload !== null) && (
        <Panel
          title={upload === null ? (from === "gateway" ? "From a gateway" : "Upload prompts") : `Sample of ${upload.from}`}
          aside={
            upload === null ? (
              <Button onClick={leave}>Close</Button>
            ) : (
              <Button disabled={archive.isPending} onClick={() => archive.mutate(upload)}>
                Delete this upload
              </Button>
            )
          }
        >
          <ErrorLine error={archive.error} />
          {upload === null ? (
            from === "gateway" ? (
              <GatewayPrompts onUpload={setUpload} />
            ) : (
              <PromptFile onUpload={setUpload} />
            )
          ) : (
            <div className="flex flex-col gap-4">
              <SurveyFacts survey={upload.survey} />
              <SampleForm
                key={upload.uploadId}
                upload={upload}
                names={names}
                onSampled={(id) => {
                  setFresh(id);
                  leave();
                }}
              />
            </div>
          )}
        </Panel>
      )}
      <Panel title="Samples">
        <PanelState status={status}>{() => <SampleList sets={query.data ?? []} fresh={fresh} />}</PanelState>
        <p className="mt-3 max-w-prose text-xs text-ink-3">
          An upload is deleted when a sample of it is taken, by hand, or after a day. Texts are stored only in the studio's own database,
          readable only by its user, and never in logs, metrics or addresses.
        </p>
      </Panel>
    </div>
  );
}
