"use client";

import type { Application } from "@/server/contracts/studio";
import { ClusterLink } from "../shell/ClusterLink";
import { StateWord } from "../ui/Badge";
import { buttonClass } from "../ui/Button";
import { formatDate } from "../ui/format";
import { Table } from "../ui/Table";
import { prepareVerification } from "./prepareVerification";

const columns = [
  { key: "name", name: "Figure" },
  { key: "promised", name: "Predicted" },
  { key: "measured", name: "Measured", numeric: true },
  { key: "verdict", name: "Verdict" },
] as const;

/**
 * Whether a plan kept its promises in the window after it came into force.
 *
 * @param application the one that applied it; null: the plan came into force in another way.
 * @param running whether it is in force now.
 */
export function VerificationPanel({ application, running }: { readonly application: Application | null; readonly running: boolean }) {
  const live = <ClusterLink to="/live">See what is measured now</ClusterLink>;
  if (application === null || application.verification === null) {
    return (
      <p className="text-sm text-ink-3">
        {application === null
          ? "This plan was not put into force by the latest roll-out, so it has no verification window. "
          : "This roll-out has no verification window. "}
        {live}
      </p>
    );
  }
  const { verification, previousPlanId } = application;
  const { word, tone, says, rows } = prepareVerification(verification);
  return (
    <div className="flex flex-col gap-3" data-testid="verification">
      <p role="status" className="flex flex-wrap items-center gap-2 text-sm">
        <StateWord tone={tone}>{word}</StateWord>
        <span className="min-w-0">{says}</span>
      </p>
      {rows.length > 0 && (
        <Table caption="Predicted and measured" columns={columns}>
          {rows.map((row) => (
            <tr key={row.name}>
              <td>{row.name}</td>
              <td>{row.promised}</td>
              <td className="text-right">
                <span className="font-medium">{row.measured}</span>
                {row.interval !== "" && <span className="block text-xs whitespace-nowrap text-ink-3">{row.interval}</span>}
              </td>
              <td>
                <StateWord tone={row.tone}>{row.word}</StateWord>
                <span className="block text-xs text-ink-3">{row.reason}</span>
              </td>
            </tr>
          ))}
        </Table>
      )}
      {verification.state === "failed" && application.state === "done" && previousPlanId !== null && (
        <p className="flex flex-wrap items-center gap-2 text-sm">
          It missed its targets.
          <ClusterLink to={`/apply/${previousPlanId}`} className={buttonClass("plain")}>
            Preview rollback
          </ClusterLink>
        </p>
      )}
      <p className="text-xs text-ink-3">
        Measured from {formatDate(new Date(verification.fromMs).toISOString())}
        {verification.toMs === null ? " on" : ` to ${formatDate(new Date(verification.toMs).toISOString())}`}. {running && live}
      </p>
    </div>
  );
}
