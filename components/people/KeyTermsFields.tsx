import { keyLimits } from "@/solver/wording/keyLimits";
import { Check } from "../ui/Check";
import { NumberField, SelectField, TextField } from "../ui/Field";
import type { KeyDraft } from "./keyDraft";

const FIRST_RATE = 600;
const FIRST_WARNING = 80;
const FIRST = { tokens: 1_000_000, usd: 10 } as const;
const MOST = { tokens: 1e12, usd: 1_000_000 } as const;
const LEAST = { tokens: 1, usd: 0.000001 } as const;

/** A number that is limited only while its box is ticked. */
function OptionalNumber(props: {
  readonly label: string;
  readonly unit: string;
  readonly value: number | null;
  readonly first: number;
  readonly min: number;
  readonly max: number;
  readonly whole: boolean;
  readonly onChange: (value: number | null) => void;
}) {
  const { label, value, first, onChange, ...number } = props;
  return (
    <div className="flex min-h-8 flex-wrap items-end gap-x-4 gap-y-1">
      <Check checked={value !== null} onChange={(limited) => onChange(limited ? first : null)}>
        {label}
      </Check>
      {value !== null && <NumberField {...number} label={`${label}, at most`} value={value} onChange={onChange} />}
    </div>
  );
}

/** What a key allows: rate, limits of tokens and money, models, class of work, team and project. */
export function KeyTermsFields(props: {
  readonly draft: KeyDraft;
  readonly onChange: (draft: KeyDraft) => void;
  /** Classes of work that the gateway knows. */
  readonly classes: readonly string[];
}) {
  const { draft, onChange, classes } = props;
  const setLimit = (name: keyof KeyDraft["limits"], value: number | null) => {
    const { [name]: _, ...rest } = draft.limits;
    onChange({ ...draft, limits: value === null ? rest : { ...rest, [name]: value } });
  };
  const hasLimit = Object.keys(draft.limits).length > 0;
  return (
    <>
      <div className="grid gap-3 sm:grid-cols-2">
        <TextField label="Team" value={draft.team} maxLength={60} onChange={(team) => onChange({ ...draft, team })} />
        <TextField label="Project" value={draft.project} maxLength={60} onChange={(project) => onChange({ ...draft, project })} />
      </div>
      <fieldset className="flex flex-col gap-1">
        <legend className="mb-1 text-xs text-ink-3">Limits; days, hours and months are those of UTC</legend>
        <OptionalNumber
          label="Requests a minute"
          unit="requests"
          value={draft.requestsPerMinute}
          first={FIRST_RATE}
          min={1}
          max={1_000_000}
          whole
          onChange={(requestsPerMinute) => onChange({ ...draft, requestsPerMinute })}
        />
        {keyLimits.map(({ name, unit, period }) => (
          <OptionalNumber
            key={name}
            label={`${unit === "usd" ? "USD" : "Tokens"} a ${period}`}
            unit={unit === "usd" ? "USD" : "tokens"}
            value={draft.limits[name] ?? null}
            first={FIRST[unit]}
            min={LEAST[unit]}
            max={MOST[unit]}
            whole={unit === "tokens"}
            onChange={(value) => setLimit(name, value)}
          />
        ))}
        {hasLimit && (
          <OptionalNumber
            label="Warn before"
            unit="% of a limit"
            value={draft.warnPercent}
            first={FIRST_WARNING}
            min={1}
            max={99}
            whole
            onChange={(warnPercent) => onChange({ ...draft, warnPercent })}
          />
        )}
      </fieldset>
      <TextField
        label="Models"
        hint="Names that it may ask for, separated by commas; empty: all. cascade/default is the cascade in force."
        value={draft.models}
        placeholder="all"
        onChange={(models) => onChange({ ...draft, models })}
      />
      {(classes.length > 0 || draft.objective !== "") && (
        <SelectField
          label="Class of work"
          hint="Under overload, classes with a smaller share of the queue are refused first. It does not reorder the queue."
          value={draft.objective}
          options={[{ value: "", text: "as each request says" }, ...classes.map((name) => ({ value: name, text: name }))]}
          onChange={(objective) => onChange({ ...draft, objective })}
        />
      )}
    </>
  );
}
