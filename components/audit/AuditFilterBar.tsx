import type { AuditOverview } from "@/server/contracts/studio";
import { Button } from "../ui/Button";
import { DayField, SelectField, TextField } from "../ui/Field";
import { type AuditView, auditObjects, objectWords } from "./auditCodec";
import { choices, isFiltered } from "./prepareAudit";

const outcomes = [
  { value: "", text: "done or refused" },
  { value: "done", text: "done" },
  { value: "refused", text: "refused" },
] as const;

/** Whose acts, which acts, on what, with which outcome and when. */
export function AuditFilterBar({
  view,
  overview,
  onChange,
}: {
  readonly view: AuditView;
  readonly overview: Pick<AuditOverview, "actors" | "actions"> | undefined;
  readonly onChange: (change: Partial<AuditView>) => void;
}) {
  const orNull = <Value extends string>(value: Value | ""): Value | null => (value === "" ? null : value);
  return (
    <search aria-label="Filter of the audit">
      <form noValidate className="flex flex-wrap items-end gap-x-4 gap-y-3" onSubmit={(event) => event.preventDefault()}>
        <SelectField
          label="Who"
          value={view.who ?? ""}
          options={choices("anyone", overview?.actors ?? [], view.who)}
          onChange={(who) => onChange({ who: orNull(who) })}
        />
        <SelectField
          label="Act"
          value={view.act ?? ""}
          options={choices("any act", overview?.actions ?? [], view.act)}
          onChange={(act) => onChange({ act: orNull(act) })}
        />
        <SelectField
          label="On"
          value={view.kind ?? ""}
          options={[{ value: "", text: "anything" }, ...auditObjects.map((value) => ({ value, text: objectWords[value] }))]}
          onChange={(kind) => onChange({ kind: orNull(kind) })}
        />
        <TextField
          label="Name or id has"
          value={view.object ?? ""}
          maxLength={200}
          onChange={(object) => onChange({ object: orNull(object) })}
        />
        <SelectField
          label="Outcome"
          value={view.outcome ?? ""}
          options={outcomes}
          onChange={(outcome) => onChange({ outcome: orNull(outcome) })}
        />
        <DayField label="From" value={view.from ?? ""} onChange={(from) => onChange({ from: orNull(from) })} />
        <DayField label="To" value={view.to ?? ""} onChange={(to) => onChange({ to: orNull(to) })} />
        <Button
          look="quiet"
          disabled={!isFiltered(view)}
          onClick={() => onChange({ who: null, act: null, kind: null, object: null, outcome: null, from: null, to: null })}
        >
          Clear
        </Button>
      </form>
    </search>
  );
}
