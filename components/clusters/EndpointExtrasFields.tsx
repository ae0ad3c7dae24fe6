import { useId } from "react";
import { TextField } from "../ui/Field";
import type { EndpointExtras } from "./prepareAttach";

/** What most do without at first: who judges answers, and where GPUs are measured. */
export function EndpointExtrasFields(props: {
  readonly extras: EndpointExtras;
  readonly models: readonly string[];
  readonly onChange: (extras: EndpointExtras) => void;
}) {
  const { extras, models, onChange } = props;
  const id = useId();
  const put = (change: Partial<EndpointExtras>): void => onChange({ ...extras, ...change });
  return (
    <details className="min-w-0">
      <summary className="text-sm text-ink-2">Judge and GPU metrics (can be added later)</summary>
      <div className="mt-2 flex flex-col gap-3">
        <p className="max-w-prose text-sm text-ink-2">
          {models.length > 1
            ? `A cascade over ${models.join(", ")} needs a judge that scores answers: an OpenAI-compatible endpoint. Without one, plans of a single model can be applied.`
            : "A judge scores answers of a cascade of several models; one model alone needs none."}
        </p>
        <div className="flex flex-wrap items-end gap-3">
          <TextField
            label="Judge's address"
            className="flex-1 basis-56"
            value={extras.judgeUrl}
            placeholder="http://judge-1:8000"
            onChange={(judgeUrl) => put({ judgeUrl })}
          />
          <TextField
            label="Judge's model, as it calls it"
            className="flex-1 basis-44"
            value={extras.judgeModel}
            placeholder="judge"
            onChange={(judgeModel) => put({ judgeModel })}
          />
          <TextField
            label="Variable with the judge's key"
            className="flex-1 basis-44"
            value={extras.judgeKey}
            placeholder="none, or WEIR_JUDGE_KEY"
            onChange={(judgeKey) => put({ judgeKey })}
          />
        </div>
        <div className="flex flex-col gap-1">
          <label htmlFor={id} className="text-xs text-ink-3">
            Addresses of dcgm-exporter, one a line
          </label>
          <textarea
            id={id}
            rows={2}
            spellCheck={false}
            value={extras.dcgm}
            placeholder="http://gpu-1:9400/metrics"
            className="w-full rounded-md border border-line-strong bg-raised p-2 font-mono text-xs text-ink"
            onChange={(event) => put({ dcgm: event.target.value })}
          />
        </div>
      </div>
    </details>
  );
}
