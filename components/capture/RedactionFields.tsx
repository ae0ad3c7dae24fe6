import { useState } from "react";
import { builtInNames } from "@/solver/redaction/builtInRedactions";
import { Button } from "../ui/Button";
import { Check } from "../ui/Check";
import { AreaField, TextField } from "../ui/Field";
import { builtInWords, type CaptureDraft, ruleProblem, tryRedaction } from "./prepareCapture";

interface Props {
  readonly draft: CaptureDraft;
  readonly onDraft: (draft: CaptureDraft) => void;
}

/** The redaction of prompts before they are stored: Weir's own rules, the operator's, and a text to try them on. */
export function RedactionFields({ draft, onDraft }: Props) {
  return (
    <fieldset className="flex min-w-0 flex-col gap-3">
      <legend className="mb-1 text-sm font-medium">Removed before a prompt is stored</legend>
      <div className="flex flex-wrap gap-x-5">
        {builtInNames.map((name) => (
          <Check
            key={name}
            checked={draft.builtIn.includes(name)}
            onChange={(checked) =>
              onDraft({ ...draft, builtIn: checked ? [...draft.builtIn, name] : draft.builtIn.filter((one) => one !== name) })
            }
          >
            {builtInWords[name]}
          </Check>
        ))}
      </div>
      <OwnRules draft={draft} onDraft={onDraft} />
      <TryBox draft={draft} />
    </fieldset>
  );
}

function OwnRules({ draft, onDraft }: Props) {
  const { own } = draft;
  const change = (id: number, part: Partial<CaptureDraft["own"][number]>): void =>
    onDraft({ ...draft, own: own.map((rule) => (rule.id === id ? { ...rule, ...part } : rule)) });
  const add = (): void => {
    const id = Math.max(0, ...own.map((rule) => rule.id)) + 1;
    onDraft({ ...draft, own: [...own, { id, name: "", pattern: "", replacement: "[removed]" }] });
  };
  return (
    <div className="flex flex-col gap-2">
      {own.map((rule, at) => {
        const problem = rule.pattern === "" ? null : ruleProblem(rule);
        return (
          <div key={rule.id} className="flex flex-wrap items-end gap-x-3 gap-y-1">
            <TextField label={`Name of rule ${at + 1}`} value={rule.name} maxLength={40} onChange={(name) => change(rule.id, { name })} />
            <TextField
              className="min-w-48 flex-1"
              label={`Pattern of rule ${at + 1}`}
              value={rule.pattern}
              maxLength={500}
              onChange={(pattern) => change(rule.id, { pattern })}
            />
            <TextField
              label={`Replacement of rule ${at + 1}`}
              value={rule.replacement}
              maxLength={100}
              onChange={(replacement) => change(rule.id, { replacement })}
            />
            <Button
              look="quiet"
              aria-label={`Remove rule ${at + 1}`}
              onClick={() => onDraft({ ...draft, own: own.filter(({ id }) => id !== rule.id) })}
            >
              Remove
            </Button>
            {problem !== null && <p className="w-full text-xs text-bad">{problem}</p>}
          </div>
        );
      })}
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1">
        <Button disabled={own.length >= 20} onClick={add}>
          Add a rule
        </Button>
        <p className="text-xs text-ink-3">
          A JavaScript regular expression, case-insensitive. It applies after the others, to the original text.
        </p>
      </div>
    </div>
  );
}

/** Tried on a button press and on a short text only: a slow pattern would block this page, although it cannot block the gateway. */
function TryBox({ draft }: { readonly draft: CaptureDraft }) {
  const [text, setText] = useState("");
  const [tried, setTried] = useState<ReturnType<typeof tryRedaction>>(null);
  return (
    <div className="flex flex-col gap-2">
      <AreaField
        label="Try the rules on a text. The text stays in this browser."
        rows={2}
        maxLength={2000}
        value={text}
        onChange={(next) => {
          setText(next);
          setTried(null);
        }}
      />
      <div>
        <Button disabled={text === ""} onClick={() => setTried(tryRedaction(draft, text))}>
          Try
        </Button>
      </div>
      {tried !== null && (
        <div role="status" className="flex flex-col gap-1 text-sm">
          <p className="whitespace-pre-wrap rounded-md bg-sunken px-2 py-1 [overflow-wrap:anywhere]" data-testid="redacted">
            {tried.text}
          </p>
          <p className="text-xs text-ink-3">{tried.found}</p>
        </div>
      )}
    </div>
  );
}
