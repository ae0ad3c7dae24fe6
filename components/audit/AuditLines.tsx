import type { AuditRecord } from "@/server/contracts/studio";
import { StateWord } from "../ui/Badge";
import { DataTable } from "../ui/DataTable";
import { objectWords } from "./auditCodec";
import { actorFacts, outcomeWord, whenText } from "./prepareAudit";

/** Lines of the audit as a table. @param isOld whether others were asked for and are not there yet */
export function AuditLines({ lines, isOld }: { readonly lines: readonly AuditRecord[]; readonly isOld: boolean }) {
  return (
    <div className={isOld ? "opacity-60" : ""} aria-busy={isOld}>
      <DataTable
        caption="Lines of the audit, newest first"
        stacked
        rows={lines}
        rowKey={({ id }) => id}
        columns={[
          {
            name: "When",
            className: "whitespace-nowrap text-ink-3",
            cell: ({ at }) => (
              <time dateTime={at} title={at}>
                {whenText(at)}
              </time>
            ),
          },
          {
            name: "Who",
            className: "[overflow-wrap:anywhere]",
            cell: (line) => (
              <>
                {line.actor}
                {actorFacts(line) !== "" && <span className="block text-xs text-ink-3">{actorFacts(line)}</span>}
              </>
            ),
          },
          { name: "Act", className: "[overflow-wrap:anywhere]", cell: ({ action }) => action },
          {
            name: "Outcome",
            cell: (line) => <StateWord tone={outcomeWord(line).tone}>{outcomeWord(line).text}</StateWord>,
          },
          {
            name: "On",
            className: "max-w-56",
            cell: ({ objectKind, objectId, subject }) => (
              <span title={objectId ?? subject}>
                {objectKind !== null && <span className="block text-xs text-ink-3">{objectWords[objectKind]}</span>}
                <span className="block truncate font-mono text-xs">{subject}</span>
              </span>
            ),
          },
          { name: "Detail", className: "text-ink-2 [overflow-wrap:anywhere] max-sm:w-full", cell: ({ detail }) => detail },
          { name: "Line", numeric: true, className: "text-ink-3", cell: ({ id, hash }) => <span title={hash}>{id}</span> },
        ]}
      />
    </div>
  );
}
