"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC, useTRPCClient } from "../api/trpc";
import { StateWord } from "../ui/Badge";
import { Panel } from "../ui/Panel";
import { PanelState } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { ConfirmedAct } from "./ConfirmedAct";
import { prepareFourEyes } from "./prepareFourEyes";

/** Whether who made a plan may approve it. */
export function FourEyesPanel() {
  const trpc = useTRPC();
  const client = useTRPCClient();
  const query = useQuery(trpc.people.fourEyes.queryOptions());
  const approvers = useQuery(trpc.session.whoMay.queryOptions({ permission: "approve" })).data ?? null;
  const isOn = query.data ?? false;
  const { says, warning, change } = prepareFourEyes(isOn, approvers);
  return (
    <Panel
      title="Four eyes"
      aside={query.data !== undefined && <StateWord tone={isOn ? "good" : "neutral"}>{isOn ? "on" : "off"}</StateWord>}
    >
      <PanelState status={queryStatus(query, { what: "Reading the setting" })}>
        {() => (
          <div className="flex flex-col items-start gap-3">
            <p className="max-w-prose text-sm text-ink-2">{says}</p>
            {warning !== null && (
              <p role="status" className="rounded-md bg-warn-soft px-3 py-1.5 text-sm text-warn">
                {warning}
              </p>
            )}
            <ConfirmedAct
              button={isOn ? "Turn off" : "Turn on"}
              label={isOn ? "Turn four eyes off" : "Turn four eyes on"}
              title={isOn ? "Turn four eyes off?" : "Turn four eyes on?"}
              description={change}
              keep={isOn ? "Leave it on" : "Leave it off"}
              go={isOn ? "Turn off" : "Turn on"}
              look={isOn ? "danger" : "primary"}
              act={() => client.people.setFourEyes.mutate({ on: !isOn })}
            />
          </div>
        )}
      </PanelState>
    </Panel>
  );
}
