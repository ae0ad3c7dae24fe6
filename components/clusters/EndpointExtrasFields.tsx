import { useId } from "react";
import { AttachJudgeFields } from "./AttachJudgeFields";
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
        <AttachJudgeFields extras={extras} models={models} onChange={put} />
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
