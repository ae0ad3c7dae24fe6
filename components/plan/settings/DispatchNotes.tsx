import { Button } from "@/components/ui/Button";
import type { PolicyChoice } from "@/solver/plan/planSlack";
import { ClusterLink } from "../../shell/ClusterLink";
import { JobProgress } from "../planning/JobProgress";
import type { DispatchTables } from "../planning/useDispatch";
import { prepareDispatchNotes } from "./prepareDispatchNotes";

/** The progress of simulating slack dispatch, and what it lacks, with the link that mends it. */
export function DispatchNotes(props: { readonly policy: PolicyChoice; readonly dispatch: DispatchTables; readonly workloadId: string }) {
  const { policy, dispatch } = props;
  const notes = prepareDispatchNotes(policy, dispatch, props.workloadId);
  return (
    <div className="flex flex-col gap-1 text-xs text-ink-3" data-testid="dispatch-notes">
      <JobProgress job={dispatch.job} again="Simulate slack dispatch" />
      {notes.map(({ kind, says, link }) => (
        <p key={says} role={kind === "failed" ? "alert" : "status"} className={kind === "failed" ? "text-bad" : ""}>
          {says} {link !== null && <ClusterLink to={link.to}>{link.text}</ClusterLink>}
          {kind === "failed" && <Button onClick={dispatch.job.ask}>Try again</Button>}
        </p>
      ))}
    </div>
  );
}
