"use client";

import Link from "next/link";
import type { ClusterSummary, GatewayRounds } from "@/server/contracts/studio";
import { useClusterLink } from "../shell/useCurrentCluster";
import { agedStatus } from "../ui/agedStatus";
import { buttonClass } from "../ui/Button";
import { PanelState, type PanelStatus } from "../ui/PanelState";
import { queryStatus } from "../ui/queryStatus";
import { useNow } from "../ui/useNow";
import { useUrlView } from "../url/useUrlView";
import { PredictionsPanel } from "./PredictionsPanel";
import { ProgramPanel } from "./ProgramPanel";
import { prepareRounds } from "./prepareRounds";
import { RoundsPanel } from "./RoundsPanel";
import { SlotsPanel } from "./SlotsPanel";
import { usePlan } from "./usePlan";
import { useRounds } from "./useRounds";
import { workflowsCodec } from "./workflowsCodec";

function Pictures(props: {
  readonly cluster: ClusterSummary;
  readonly answer: GatewayRounds;
  readonly timeScale: number;
  /** When the answer came, in Unix milliseconds. */
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
          <RoundsPanel key={cluster.runningPlanId} answer={answer} timeScale={timeScale} atMs={atMs} />
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

/** Why there is nothing to look at, and the way to something; false: there is. */
function emptyOf(
  asked: ReturnType<typeof useRounds>["data"],
  hasPlan: boolean,
  link: ReturnType<typeof useClusterLink>,
): PanelStatus | false {
  switch (asked?.state) {
    case "no-gateway":
      return {
        kind: "empty",
        title: "Nothing runs here",
        text: "This cluster is described for planning only: no gateway chooses models here.",
      };
    case "older":
      return {
        kind: "empty",
        title: "This gateway tells nothing of rounds",
        text: "It is of an earlier version. Start it anew with this studio's version.",
      };
    case "there":
      if (asked.rounds.rounds === null)
        return {
          kind: "empty",
          title: hasPlan ? "The policy in force does not decide in rounds" : "No plan is in force",
          text: `${hasPlan ? "Its plan sends each request to a model by its route. Declare a workflow, make" : "Make a plan on the Plan page and apply it: it brings the engines. Then declare a workflow, make"} a plan that runs it just in time, and apply that.`,
          action: (
            <Link href={link("/workflows?tab=declared")} className={buttonClass()}>
              Open declared workflows
            </Link>
          ),
        };
      return (
        asked.rounds.rounds.length === 0 &&
        asked.rounds.programs.length === 0 && {
          kind: "empty",
          title: "No round yet",
          text: "The policy in force chooses models just in time, and nothing has come yet. Start the load on Live, call with the headers of a declared workflow, or run one from the tab Declared.",
          action: (
            <Link href={link("/live")} className={buttonClass()}>
              Open Live
            </Link>
          ),
        }
      );
    case undefined:
      return false;
  }
}

/** What the policy that decides in rounds does now: free slots, rounds with their candidates, and a program's configurations. */
export function JustInTimeTab({ cluster }: { readonly cluster: ClusterSummary }) {
  const link = useClusterLink();
  const nowMs = useNow(1_000);
  const query = useRounds(cluster.spec.id);
  const { data } = query;
  const known = queryStatus(query, { what: "Asking the gateway", empty: emptyOf(data, cluster.runningPlanId !== null, link) });
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
