"use client";

import { useHindrance, useMe } from "../api/useMe";
import { useCurrentCluster } from "../shell/useCurrentCluster";
import { lockedStatus } from "../ui/lockedStatus";
import { PageHeader } from "../ui/PageHeader";
import { PanelState, type PanelStatus } from "../ui/PanelState";
import { useNow } from "../ui/useNow";
import { FourEyesPanel } from "./FourEyesPanel";
import { KeysPanel } from "./KeysPanel";
import { KeyUsagePanel } from "./KeyUsagePanel";
import { PeoplePanel } from "./PeoplePanel";
import { SessionsPanel } from "./SessionsPanel";
import { TokensPanel } from "./TokensPanel";

const MINUTE_MS = 60_000;

/** People and keys: who may sign in, where somebody is signed in, and what programs and clients may use. */
export function PeopleScreen() {
  const me = useMe();
  const hindrance = useHindrance("manage");
  const nowMs = useNow(MINUTE_MS);
  const cluster = useCurrentCluster();
  const loading: PanelStatus = { kind: "loading", what: "Reading who you are" };
  const status: PanelStatus = hindrance !== null ? lockedStatus(hindrance) : me === null || nowMs === null ? loading : { kind: "ready" };
  return (
    <div className="flex flex-col gap-4">
      <PageHeader title="People and keys" />
      <PanelState status={status}>
        {() =>
          nowMs !== null && (
            <>
              <PeoplePanel />
              <FourEyesPanel />
              <SessionsPanel nowMs={nowMs} />
              <TokensPanel nowMs={nowMs} />
              {cluster !== null && <KeysPanel cluster={cluster} nowMs={nowMs} />}
              {cluster !== null && <KeyUsagePanel key={cluster.spec.id} cluster={cluster} nowMs={nowMs} />}
            </>
          )
        }
      </PanelState>
    </div>
  );
}
