import { type ReactNode, useId } from "react";
import { NumberInput } from "./NumberInput";

const control =
  "h-8 min-w-0 rounded-md border border-line-strong bg-raised px-2 text-sm text-ink disabled:cursor-not-allowed disabled:opacity-60 aria-invalid:border-bad";

interface Frame {
  readonly label: string;
  /** Unit or word after the control. */
  readonly unit?: string;
  readonly hint?: ReactNode;
  /** The error of its value, linked to the control as its description; undefined: none. */
  readonly problem?: string | undefined;
  readonly className?: string;
}

/** Links a control to its error message. */
const problemOf = (id: string, problem: string | undefined): { readonly "aria-invalid"?: true; readonly "aria-describedby"?: string } =>
  problem === undefined ? {} : { "aria-invalid": true, "aria-describedby": `${id}-problem` };

/**
 * The error message of the control with that id; nothing without an error. It is not announced by itself: it is read when the control gets
 * the focus.
 */
const FieldProblem = ({ id, text }: { readonly id: string; readonly text: string | undefined }) =>
  text !== undefined && (
    <p id={`${id}-problem`} className="max-w-md text-sm text-bad [overflow-wrap:anywhere]">
      {text}
    </p>
  );

function FieldFrame(props: Frame & { readonly id: string; readonly children: ReactNode }) {
  return (
    <div className={`flex min-w-0 flex-col gap-1 ${props.className ?? ""}`}>
      <label htmlFor={props.id} className="text-xs text-ink-3">
        {props.label}
      </label>
      <div className="flex flex-wrap items-center gap-1.5">
        {props.children}
        {props.unit !== undefined && <span className="text-xs text-ink-3">{props.unit}</span>}
      </div>
      {props.hint !== undefined && <p className="text-xs text-ink-3">{props.hint}</p>}
      <FieldProblem id={props.id} text={props.problem} />
    </div>
  );
}

export interface Option<Value extends string = string> {
  readonly value: Value;
  readonly text: string;
}

/** A choice among few: the platform's own list, which works with every keyboard and screen reader. */
export function SelectField<Value extends string>(
  props: Frame & {
    readonly value: NoInfer<Value> | "";
    readonly options: readonly Option<Value>[];
    readonly onChange: (value: Value) => void;
    readonly disabled?: boolean;
  },
) {
  const id = useId();
  return (
    <FieldFrame {...props} id={id}>
      <select
        id={id}
        className={`${control} max-w-full flex-1 truncate pr-6`}
        value={props.value}
        disabled={props.disabled}
        {...problemOf(id, props.problem)}
        onChange={(event) => {
          const chosen = props.options.find(({ value }) => value === event.target.value);
          if (chosen !== undefined) props.onChange(chosen.value);
        }}
      >
        {props.options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.text}
          </option>
        ))}
      </select>
    </FieldFrame>
  );
}

export function TextField(
  props: Frame & {
    readonly value: string;
    readonly onChange: (value: string) => void;
    readonly placeholder?: string;
    readonly maxLength?: number;
    /** Known values, offered while typing; others can be typed too. */
    readonly suggestions?: readonly string[];
  },
) {
  const id = useId();
  return (
    <FieldFrame {...props} id={id}>
      <input
        id={id}
        className={`${control} flex-1`}
        value={props.value}
        placeholder={props.placeholder}
        maxLength={props.maxLength}
        {...problemOf(id, props.problem)}
        list={props.suggestions === undefined ? undefined : `${id}-suggestions`}
        onChange={(event) => props.onChange(event.target.value)}
      />
      {props.suggestions !== undefined && (
        <datalist id={`${id}-suggestions`}>
          {props.suggestions.map((value) => (
            <option key={value} value={value} />
          ))}
        </datalist>
      )}
    </FieldFrame>
  );
}

/** A day as 2026-01-31; empty: none. The platform's own calendar. */
export function DayField(props: Frame & { readonly value: string; readonly onChange: (value: string) => void }) {
  const id = useId();
  return (
    <FieldFrame {...props} id={id}>
      <input
        id={id}
        type="date"
        className={`${control} flex-1`}
        value={props.value}
        {...problemOf(id, props.problem)}
        onChange={(event) => props.onChange(event.target.value)}
      />
    </FieldFrame>
  );
}

/** A text of several lines. */
export function AreaField(
  props: Frame & {
    readonly value: string;
    readonly rows: number;
    readonly onChange: (value: string) => void;
    readonly maxLength?: number;
    readonly placeholder?: string;
    /** Whether it is code or data rather than prose. */
    readonly code?: boolean;
  },
) {
  const id = useId();
  return (
    <FieldFrame {...props} id={id}>
      <textarea
        id={id}
        rows={props.rows}
        className={`w-full min-w-0 rounded-md border border-line-strong bg-raised p-2 text-ink aria-invalid:border-bad ${props.code ? "font-mono text-xs" : "text-sm"}`}
        value={props.value}
        maxLength={props.maxLength}
        placeholder={props.placeholder}
        spellCheck={!props.code}
        autoComplete="off"
        {...problemOf(id, props.problem)}
        onChange={(event) => props.onChange(event.target.value)}
      />
    </FieldFrame>
  );
}

/** A number with its unit. */
export function NumberField(
  props: Frame & {
    /** null: none yet, and an empty box. */
    readonly value: number | null;
    readonly min: number;
    readonly max: number;
    readonly step?: number;
    readonly whole?: boolean;
    /** Whether it must be above `min`, not equal to it. */
    readonly above?: boolean;
    readonly onChange: (value: number) => void;
    readonly disabled?: boolean;
  },
) {
  const id = useId();
  return (
    <FieldFrame {...props} id={id}>
      <NumberInput
        id={id}
        label={props.label}
        value={props.value}
        min={props.min}
        max={props.max}
        step={props.step ?? 1}
        whole={props.whole ?? false}
        above={props.above ?? false}
        disabled={props.disabled ?? false}
        problemId={problemOf(id, props.problem)["aria-describedby"]}
        onChange={props.onChange}
      />
    </FieldFrame>
  );
}
