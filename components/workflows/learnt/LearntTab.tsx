"use client";

import { useCallback, useMemo } from "react";
import { ClusterLink } from "@/components/shell/ClusterLink";
import { agedStatus } from "@/components/ui/agedStatus";
import { buttonClass } from "@/components/ui/Button";
import { Panel } from "@/components/ui/Panel";
import { PanelState, type PanelStatus } from "@/components/ui/PanelState";
import { queryStatus } from "@/components/ui/queryStatus";
import { useNow } from "@/components/ui/useNow";
import { useUrlView } from "@/components/url/useUrlView";
import type { ClusterSummary } from "@/server/contracts/studio";
import { identifyAgents } from "../graph/agentIdentity";
import { type FoldedPart, withPart, workflowsCodec } from "../graph/workflowsCodec";
import { DistributionPanel } from "./DistributionPanel";
import { GraphPanel } from "./GraphPanel";
import { HeaderSnippets } from "./HeaderSnippets";
import { LinePanel } from "./LinePanel";
import { MemoryPanel } from "./MemoryPanel";
import { chosenAgent, chosenApplication } from "./prepareChoice";
import { type Learnt, learningText } from "./prepareSummary";
import { SummaryPanel } from "./SummaryPanel";
import { useWorkflows } from "./useWorkflows";
import { WaitTimesPanel } from "./WaitTimesPanel";

/** The views of the learnt workflows. */
function Pictures({ clusterId, learnt }: { readonly clusterId: string; readonly learnt: Learnt }) {
  const [view, write] = useUrlView(workflowsCodec);
  const { applications, agents, counts } = learnt.workflows.learnt;
  const identities = useMemo(
    () => identifyAgents([...agents, ...applications.flatMap(({ nodes }) => nodes)].map(({ key }) => key)),
    [agents, applications],
  );
  const application = chosenApplication(applications, view);
  const agent = chosenAgent(agents, application, view.agent);
  const identity = identities.get(agent?.key ?? "");
  const onAgent = useCallback((key: string) => write({ agent: key, app: null }, "push"), [write]);
  const unfolding = (part: FoldedPart) => ({
    all: view.all.includes(part),
    onAll: (all: boolean) => write({ all: withPart(view.all, part, all) }, "push"),
  });
  return (
    <>
      {application === null ? (
        <Panel title="Call graph">
          <PanelState status={{ kind: "empty", title: "No program has ended yet", text: learningText(counts) }}>{() => null}</PanelState>
        </Panel>
      ) : (
        <GraphPanel
          applications={applications}
          application={application}
          identities={identities}
          agent={agent?.key ?? null}
          {...unfolding("graph")}
          onApplication={(name) => write({ app: name, agent: null }, "push")}
          onAgent={onAgent}
        />
      )}
      <div className="grid gap-4 xl:grid-cols-2">
        <LinePanel agents={agents} identities={identities} agent={agent?.key ?? null} {...unfolding("line")} onAgent={onAgent} />
        {agent !== null && identity !== undefined && <DistributionPanel agent={agent} identity={identity} />}
      </div>
      <MemoryPanel memory={learnt.workflows.memory} replica={view.replica} onReplica={(replica) => write({ replica }, "push")} />
      <WaitTimesPanel clusterId={clusterId} {...unfolding("pairs")} />
    </>
  );
}

/** Why there is nothing to show, and the next step; false: there is something. */
function emptyOf(learnt: ReturnType<typeof useWorkflows>["data"]): PanelStatus | false {
  switch (learnt?.state) {
    case "no-gateway":
      return { kind: "empty", title: "Nothing runs here", text: "This cluster is described for planning only: it has no gateway." };
    case "older":
      return {
        kind: "empty",
        title: "This gateway does not learn workflows",
        text: "It has an earlier version. Restart it with this studio's version: it learns from the next call on.",
      };
    case "there":
      return (
        learnt.workflows.learnt.counts.calls === 0 && {
          kind: "empty",
          title: "No call yet",
          text: `Graphs and latencies appear with the first calls. To distinguish agents, send the headers below; to see traffic now, ${learnt.policy === null ? "apply a plan, then start the load on Live" : "start the load on Live"}.`,
          action: (
            <ClusterLink to={learnt.policy === null ? "/plan" : "/live"} className={buttonClass()}>
              {learnt.policy === null ? "Open Plan" : "Open Live"}
            </ClusterLink>
          ),
        }
      );
    case undefined:
      return false;
  }
}

/** How applications use the models, as the gateway learnt from their calls. */
export function LearntTab({ cluster }: { readonly cluster: ClusterSummary }) {
  const clusterId = cluster.spec.id;
  const [view, write] = useUrlView(workflowsCodec);
  const nowMs = useNow(1_000);
  const query = useWorkflows(clusterId);
  const { data: learnt } = query;
  const known = queryStatus(query, { what: "Asking the gateway", empty: emptyOf(learnt) });
  const status = agedStatus(known, query, nowMs);
  return (
    <>
      <PanelState status={status}>
        {() =>
          learnt?.state === "there" && (
            <div className={`flex flex-col gap-4 ${status.kind === "stale" ? "grayscale" : ""}`}>
              <SummaryPanel clusterId={clusterId} learnt={learnt} />
              <Pictures clusterId={clusterId} learnt={learnt} />
            </div>
          )
        }
      </PanelState>
      <HeaderSnippets language={view.snippet} onLanguage={(snippet) => write({ snippet }, "replace")} />
    </>
  );
}
