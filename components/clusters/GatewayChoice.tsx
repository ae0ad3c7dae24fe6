import { useId } from "react";
import { TextField } from "../ui/Field";
import type { GatewayForm } from "./prepareAttach";
import { ReferenceField } from "./ReferenceField";

const choices = [
  { runBy: "studio", text: "Run a gateway with the studio", hint: "It starts automatically and listens on this host." },
  { runBy: "operator", text: "I run the gateway myself", hint: "The studio only configures it." },
] as const;

/** Who runs the gateway that serves clients. */
export function GatewayChoice({ form, onChange }: { readonly form: GatewayForm; readonly onChange: (form: GatewayForm) => void }) {
  const name = useId();
  return (
    <fieldset className="flex min-w-0 flex-col gap-2">
      <legend className="mb-1 text-xs text-ink-3">Gateway, which clients send their requests to</legend>
      {choices.map(({ runBy, text, hint }) => (
        <label key={runBy} className="flex items-baseline gap-2 text-sm">
          <input
            type="radio"
            name={name}
            className="size-4 translate-y-0.5 accent-(--accent)"
            checked={form.runBy === runBy}
            onChange={() => onChange({ ...form, runBy })}
          />
          <span>
            {text} <span className="text-xs text-ink-3">{hint}</span>
          </span>
        </label>
      ))}
      {form.runBy === "operator" && (
        <div className="flex flex-wrap items-end gap-3 pl-6">
          <TextField
            label="Its address for clients"
            className="flex-1 basis-56"
            value={form.url}
            placeholder="http://gateway-1:4610"
            onChange={(url) => onChange({ ...form, url })}
          />
          <TextField
            label="Its admin address"
            className="flex-1 basis-56"
            value={form.adminUrl}
            placeholder="http://gateway-1:4611"
            onChange={(adminUrl) => onChange({ ...form, adminUrl })}
          />
          <ReferenceField
            label="Admin token, if not this studio's own"
            value={form.token}
            onChange={(token) => onChange({ ...form, token })}
          />
        </div>
      )}
    </fieldset>
  );
}
