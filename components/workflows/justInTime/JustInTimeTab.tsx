"use client";

import { useQuery } from "@tanstack/react-query";
import { useTRPC, useTRPCClient } from "@/components/api/trpc";
import { unwrapOutcome } from "@/components/api/unwrapOutcome";
import { ClusterLink } from "@/components/shell/ClusterLink";
import { agedStatus } from "@/components/ui/agedStatus";
import { buttonClass } from "@/components/ui/Button";
import { Figure } from "@/components/ui/Figure";
import { Panel } from "@/components/ui/Panel";
import { PanelState, type PanelStatus } from "@/components/ui/PanelState";
import { queryStatus } from "@/components/ui/queryStatus";
import { useNow } from "@/components/ui/useNow";
import { useUrlView } from "@/components/url/useUrlView";
import type { ClusterSummary, GatewayRounds } from "@/server/contracts/studio";
import type { PolicyDocument } from "@/solver/plan/policySchema";
import { usePlan } from "../graph/usePlan";
import { workflowsCodec } from "../graph/workflowsCodec";
import { ProgramPanel } from "./ProgramPanel";
import { preparePredictions } from "./preparePredictions";
import { isByWorth, prepareRounds } from "./prepareRounds";
import { RoundsPanel } from "./RoundsPanel";
import { SlotsPanel } from "./SlotsPanel";

/** Statistics of the gateway's searches for accurate configurations since it started. */
function PredictionsPanel(props: { readonly predictions: GatewayRounds["predictions"]; readonly policy: PolicyDocument | null }) {
  const { figures, says } = preparePredictions(props.predictions, props.policy);
  return (
    <Panel title="Accurate configurations, predicted from executed or modelled outcomes" aside="since the gateway started, over all plans">
      <dl className="flex flex-wrap gap-x-8 gap-y-3" data-testid="configuration-predictions">
        {figures.map((figure) => (
          <Figure key={figure.name} {...figure} />
        ))}
      </dl>
      {says !== "" && <p className="mt-3 text-xs text-ink-3">{says}</p>}
    </Panel>
  );
}

/** Polling interval while the page is visible. */
const EVERY_MS = 2_000;

/**
 * The latest rounds of the cluster's policy, polled while the page is visible. While the gateway does not answer, the last answer is shown
 * with the error.
 */
function useRounds(clusterId: string) {
  const trpc = useTRPC();
  const client = useTRPCClient();
  return useQuery({
    queryKey: trpc.workflows.rounds.queryKey({ clusterId }),
    queryFn: async ({ signal }) => unwrapOutcome(await client.workflows.rounds.query({ clusterId }, { signal })).seen,
    refetchInterval: EVERY_MS,
    retry: false,
  });
}

function Pictures(props: {
  readonly cluster: ClusterSummary;
  readonly answer: GatewayRounds;
  readonly timeScale: number;
  /** When the answer arrived, in Unix milliseconds. */
  readonly atMs: number;
}) {
  const { cluster, answer, timeScale, atMs } = props;
  const [view, write] = useUrlView(workflowsCodec);
  const policy = usePlan(cluster.runningPlanId).data?.plan.policy ?? null;
  const [newest] = prepareRounds(answer.rounds ?? [], { asOfSeconds: answer.asOfSeconds, atMs, timeScale });
  return (
    <>
      {newest !== undefined && (
        <div className="grid items-start gap-4 xl:grid-cols-[22rem_1fr]">
          <SlotsPanel newest={newest} />
          <RoundsPanel key={cluster.runningPlanId} answer={answer} timeScale={timeScale} atMs={atMs} byWorth={isByWorth(policy)} />
        </div>
      )}
      <ProgramPanel
        programs={answer.programs}
        named={view.program}
        policy={policy}
        onProgram={(program) => write({ program }, "replace")}
      />
      <PredictionsPanel predictions={answer.predictions} policy={policy} />
    </>
  );
}

/** Why there is nothing to show, and the next step; false: there is something. */
function emptyOf(asked: ReturnType<typeof useRounds>["data"], hasPlan: boolean): PanelStatus | false {
  switch (asked?.state) {
    case "no-gateway":
      return {
        kind: "empty",
        title: "Nothing runs here",
        text: "This cluster is described for planning only: it has no gateway.",
      };
    case "older":
      return {
        kind: "empty",
        title: "This gateway does not report rounds",
        text: "It has an earlier version. Restart it with this studio's version.",
      };
    case "there":
      if (asked.rounds.rounds === null)
        return {
          kind: "empty",
          title: hasPlan ? "The policy in force does not use rounds" : "No plan is in force",
          text: `${hasPlan ? "Its plan sends each request to a model by its route. Declare a workflow, make" : "Make a plan on the Plan page and apply it: it brings the engines. Then declare a workflow, make"} a plan that runs it just in time, and apply that.`,
          action: (
            <ClusterLink to="/workflows?tab=declared" className={buttonClass()}>
              Open declared workflows
            </ClusterLink>
          ),
        };
      return (
        asked.rounds.rounds.length === 0 &&
        asked.rounds.programs.length === 0 && {
          kind: "empty",
          title: "No round yet",
          text: "The policy in force chooses models just in time, and no request has arrived yet. Start the load on Live, call with the headers of a declared workflow, or run one from the Declared tab.",
          action: (
            <ClusterLink to="/live" className={buttonClass()}>
              Open Live
            </ClusterLink>
          ),
        }
      );
    case undefined:
      return false;
  }
}

/** The current state of the policy that decides in rounds: free slots, rounds with their candidates, and a program's configurations. */
export function JustInTimeTab({ cluster }: { readonly cluster: ClusterSummary }) {
  const nowMs = useNow(1_000);
  const query = useRounds(cluster.spec.id);
  const { data } = query;
  const known = queryStatus(query, { what: "Asking the gateway", empty: emptyOf(data, cluster.runningPlanId !== null) });
  const status = agedStatus(known, query, nowMs);
  return (
    <PanelState status={status}>
      {() =>
        data?.state === "there" && (
          <div className={`flex flex-col gap-4 ${status.kind === "stale" ? "grayscale" : ""}`}>
            <Pictures cluster={cluster} answer={data.rounds} timeScale={data.timeScale} atMs={query.dataUpdatedAt} />
          </div>
        )
      }
    </PanelState>
  );
}
