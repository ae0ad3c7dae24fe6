"use client";

import { useMutation } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTRPCClient } from "../api/trpc";
import { unwrapOutcome } from "../api/unwrapOutcome";
import { ErrorLine } from "../ui/ErrorLine";
import { PermittedButton } from "../ui/PermittedButton";
import { FindingList } from "./FindingList";

/** Tests a cluster's connection again on request, and shows the findings. `children`: other buttons of the same row. */
export function ConnectionTest(props: { readonly clusterId: string; readonly name: string; readonly children?: ReactNode }) {
  const { clusterId, name } = props;
  const client = useTRPCClient();
  const test = useMutation({ mutationFn: async () => unwrapOutcome(await client.clusters.testConnection.mutate({ clusterId })) });
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap gap-2">
        {props.children}
        <PermittedButton
          permission="attach"
          disabled={test.isPending}
          aria-label={`Test the connection of ${name}`}
          onClick={() => test.mutate()}
        >
          {test.isPending ? "Testing …" : "Test connection"}
        </PermittedButton>
      </div>
      <ErrorLine error={test.error} />
      <div role="status" className="flex flex-col gap-3">
        {test.data !== undefined && !test.isPending && (
          <>
            <FindingList findings={test.data.findings} label={`What testing ${name} found`} onAllowed={() => test.mutate()} />
            {test.data.endpoints.map(({ tried, findings }) => {
              const faults = findings.filter(({ level }) => level !== "ok");
              return (
                <details key={`${tried.url} ${tried.servedName}`} open={faults.length > 0 || undefined}>
                  <summary className="text-sm [overflow-wrap:anywhere]">
                    <span className="font-medium">{tried.name}</span> <span className="text-xs text-ink-3">{tried.url}</span>{" "}
                    {faults.length === 0 ? "is healthy" : ""}
                  </summary>
                  <div className="mt-1">
                    <FindingList findings={findings} label={`What testing ${tried.name} found`} onAllowed={() => test.mutate()} />
                  </div>
                </details>
              );
            })}
          </>
        )}
      </div>
    </div>
  );
}
